/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything that must not leave a trace on the stack or in a register: dlsym and dlopen, whose
 * real versions look at their return address, and the thunks, which know nothing of the function
 * they stand for. All of them end in a jump. System V ABI for x86-64.
 */
#ifndef __x86_64__
#error "entry.S is written for x86-64"
#endif

	.text /* after a constructor in the same link, "no section" could mean .init_array */

/* Argument registers saved at entry. Stack arguments begin behind the frame and the return address. */
#define XMM 0
#define REG 128
#define RAX 176
#define FRAME 184
#define STACK (FRAME + 8)

	.macro save_registers
	subq	$FRAME, %rsp
	.cfi_adjust_cfa_offset FRAME
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	%xmm\n, XMM+16*\n(%rsp)
	.endr
	movq	%rdi, REG+0(%rsp)
	movq	%rsi, REG+8(%rsp)
	movq	%rdx, REG+16(%rsp)
	movq	%rcx, REG+24(%rsp)
	movq	%r8, REG+32(%rsp)
	movq	%r9, REG+40(%rsp)
	movq	%rax, RAX(%rsp)
	.endm

	.macro restore_registers
	.irp	n, 0, 1, 2, 3, 4, 5, 6, 7
	movups	XMM+16*\n(%rsp), %xmm\n
	.endr
	movq	REG+0(%rsp), %rdi
	movq	REG+8(%rsp), %rsi
	movq	REG+16(%rsp), %rdx
	movq	REG+24(%rsp), %rcx
	movq	REG+32(%rsp), %r8
	movq	REG+40(%rsp), %r9
	movq	RAX(%rsp), %rax
	.cfi_remember_state
	addq	$FRAME, %rsp
	.cfi_adjust_cfa_offset -FRAME
	.endm

	.macro function name
	.globl	\name
	.type	\name, @function
\name:
	.cfi_startproc
	endbr64
	.endm

	.macro end name
	.cfi_endproc
	.size	\name, .-\name
	.endm

	.hidden	real, window_watch, graph_loans, route, route_dlsym, route_dlopen
	.hidden	record_on, window_activity
	.hidden	driver_lazy, thunk_known, thunk_outside, thunk_target

/* void *dlsym(void *handle, const char *name): route.c answers, or changes the name, or neither. */
	.p2align 4
	function dlsym
	pushq	%rsi
	.cfi_adjust_cfa_offset 8
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	subq	$8, %rsp
	.cfi_adjust_cfa_offset 8
	leaq	16(%rsp), %rsi	/* &name */
	movq	24(%rsp), %rdx	/* who called */
	call	route_dlsym
	addq	$8, %rsp
	.cfi_adjust_cfa_offset -8
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	popq	%rsi
	.cfi_adjust_cfa_offset -8
	testq	%rax, %rax
	jne	1f
	jmp	*route(%rip)
1:	ret
	end dlsym

/* void *dlopen(const char *file, int flags): route.c may clear RTLD_DEEPBIND. */
	.p2align 4
	function dlopen
	pushq	%rdi
	.cfi_adjust_cfa_offset 8
	movl	%esi, %edi
	call	route_dlopen
	movl	%eax, %esi
	popq	%rdi
	.cfi_adjust_cfa_offset -8
	jmp	*route+8(%rip)
	end dlopen

/* A row of the table is in eax; the driver is not bound yet. */
	.p2align 4
	.type	lazy, @function
lazy:
	.cfi_startproc
	save_registers
	movl	%eax, %edi
	call	driver_lazy
	movq	%rax, %r11
	restore_registers
	jmp	*%r11
	end lazy

/* A row of the table is in eax; something is watched, or lent. */
	.p2align 4
	.type	known, @function
known:
	.cfi_startproc
	save_registers
	movl	%eax, %edi
	leaq	REG(%rsp), %rsi
	leaq	STACK(%rsp), %rdx
	call	thunk_known
	testl	%eax, %eax
	jne	1f
	restore_registers
	leaq	real(%rip), %r11
	jmp	*(%r11,%rax,8)
	.cfi_restore_state
1:	addq	$FRAME, %rsp
	.cfi_adjust_cfa_offset -FRAME
	ret
	end known

/* A pool entry is in r11d; rax may count vector registers, r10 may be a static chain. */
	.p2align 4
	.type	outside, @function
outside:
	.cfi_startproc
	save_registers
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	pushq	%r11
	.cfi_adjust_cfa_offset 8
	movl	%r11d, %edi
	call	thunk_outside
	popq	%r11
	.cfi_adjust_cfa_offset -8
	popq	%r10
	.cfi_adjust_cfa_offset -8
	testl	%eax, %eax
	jne	1f
	restore_registers
	pushq	%r10
	.cfi_adjust_cfa_offset 8
	leaq	thunk_target(%rip), %r10
	movq	(%r10,%r11,8), %r11
	popq	%r10
	.cfi_adjust_cfa_offset -8
	jmp	*%r11
	.cfi_restore_state
1:	addq	$FRAME, %rsp
	.cfi_adjust_cfa_offset -FRAME
	ret
	end outside

/* Thunks of the table's rows that hooks.def does not replace, and for every row its lazy stub, its
 * class and more (thunk_rows) and the distance to what stands for it (thunk_offsets). */
#define CLASS_neutral 0
#define CLASS_stream 1
#define CLASS_all 2
#define CALL(name, class, why) .set class_##name, CLASS_##class;
#include "matcher/calls.def"
#undef CALL

#define HOOK(name, why) .set hook_##name, 1;
#include "shim/hooks.def"
#undef HOOK

#define LOAN_settles 1
#define LOAN_leaves 0
#define LOAN(name, what, why) .set loan_##name, LOAN_##what;
#include "shim/loans.def"
#undef LOAN

/* Is character `at` that letter? */
	.macro letter where, which, c
	.if	at == \where
	.ifc	\which, \c
	.set	alike, alike + 1
	.endif
	.endif
	.endm

/* Sets `loan`: 1 where open loans of graphs are settled before the call. */
	.macro set_loan base
	.ifdef	loan_\base
	.set	loan, loan_\base
	.else
	.set	at, 0
	.set	alike, 0
	.irpc	c, \base
	.if	at < 7
	letter	0, c, \c
	letter	1, u, \c
	letter	2, G, \c
	letter	3, r, \c
	letter	4, a, \c
	letter	5, p, \c
	letter	6, h, \c
	.set	at, at + 1
	.endif
	.endr
	.set	loan, (alike == 7) & 1 /* true is -1 */
	.endif
	.endm

	.section .rodata.thunk, "a", @progbits
	.p2align 2
	.globl	thunk_rows, thunk_offsets
	.hidden	thunk_rows, thunk_offsets
thunk_rows:
	.previous
	.section .rodata.thunk_offsets, "a", @progbits
	.p2align 2
thunk_offsets:
	.previous

	.set	row, 0
	.macro thunk name, base, ptsz, stream
	.ifdef	class_\base
	.set	class, class_\base
	.elseif	\stream >= 0
	.set	class, CLASS_stream
	.else
	.set	class, CLASS_all
	.endif
	set_loan \base

	.ifdef	hook_\name
	.set	hooked, 1
	.else
	.set	hooked, 0
	.p2align 4
	function \name
	.if	loan
	cmpl	$0, graph_loans(%rip)
	jne	3f
	.endif
	cmpl	$0, window_watch(%rip)
	jne	1f
	jmp	*real+8*row(%rip)
1:
	.if	class == CLASS_neutral /* no more than window_touch, unless calls are recorded */
	cmpb	$0, record_on(%rip)
	jne	3f
	movq	window_activity@gottpoff(%rip), %r11
	movq	%fs:(%r11), %r11
	testq	%r11, %r11
	je	2f
	incl	(%r11)
2:	jmp	*real+8*row(%rip)
	.endif
3:	movl	$row, %eax
	jmp	known
	end	\name
	.if	class == CLASS_neutral && !loan
	.hidden	\name /* a program linked to libcuda needs no stand-in for a query */
	.endif
	.endif

	.globl	lazy_\name
	.hidden	lazy_\name
	.type	lazy_\name, @function
lazy_\name:
	movl	$row, %eax
	jmp	lazy
	.size	lazy_\name, .-lazy_\name

	.section .rodata.thunk, "a", @progbits
	.byte	class, \stream, \ptsz, hooked, loan
	.previous
	.section .rodata.thunk_offsets, "a", @progbits
	.long	\name - .
	.previous
	.set	row, row + 1
	.endm

#define FLAVOUR_legacy 0
#define FLAVOUR_ptds 1
#define FLAVOUR_ptsz 1
#define DRIVER_API(name, base, since, flavour, stream, params, args)                               \
	thunk name, base, FLAVOUR_##flavour, stream
#include "shim/rows.def"
#undef DRIVER_API

/* The pool for driver functions outside the table. 64 bytes each (thunk.c). */
#include "shim/thunk_pool.h"
	.globl	thunk_pool
	.hidden	thunk_pool
	.p2align 6
thunk_pool:
	.set	slot, 0
	.rept	THUNK_POOL
	.p2align 6
	endbr64
	cmpl	$0, window_watch(%rip)
	jne	1f
	cmpl	$0, graph_loans(%rip)
	jne	1f
	jmp	*thunk_target+8*slot(%rip)
1:	movl	$slot, %r11d
	jmp	outside
	.set	slot, slot + 1
	.endr

	.section .note.GNU-stack, "", @progbits
