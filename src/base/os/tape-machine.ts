// The program that plays a tape of system calls, as machine code in a minimal ELF file: about 200
// bytes per processor. A second start of our own executable would take 45 ms and more of a core
// for each shell; this takes well under one. Sources: elf(5), syscall(2) (calling conventions).
// The code below is the whole of it; beside each line stands its assembler text.

const CODE_ADDRESS = 0x400000;
/** Where the data lies: four cells, then the calls. */
const DATA_ADDRESS = 0x500000;
const CALLS_ADDRESS = DATA_ADDRESS + 0x20;

/** The cells in front of the calls, filled from the stack that the kernel hands over. */
export const CELLS = { program: 0, arguments: 8, environment: 16, scratch: 24 } as const;

/** One call: number, six addresses of operands, address for the result, message and its length. */
export const CALL_WORDS = 10;

export const ADDRESSES = { data: DATA_ADDRESS, calls: CALLS_ADDRESS } as const;

interface Machine {
  /** What ELF calls the processor. */
  elfMachine: number;
  /** Segments must lie that far apart: the largest page size of the processor. */
  pageBytes: number;
  code: readonly string[];
}

const X64: Machine = {
  elfMachine: 62,
  pageBytes: 0x1000,
  code: [
    "48 8b 44 24 10", //          mov rax, [rsp+16]         the program: argv[1]
    "48 89 04 25 00 00 50 00", // mov [0x500000], rax
    "48 8d 44 24 10", //          lea rax, [rsp+16]         its arguments: &argv[1]
    "48 89 04 25 08 00 50 00", // mov [0x500008], rax
    "48 8b 0c 24", //             mov rcx, [rsp]            argc
    "48 8d 44 cc 10", //          lea rax, [rsp+rcx*8+16]   the environment
    "48 89 04 25 10 00 50 00", // mov [0x500010], rax
    "bb 20 00 50 00", //          mov ebx, 0x500020         the first call
    "48 8b 43 08 48 8b 38", //    next: mov rdi, [[rbx+8]]
    "48 8b 43 10 48 8b 30", //    mov rsi, [[rbx+16]]
    "48 8b 43 18 48 8b 10", //    mov rdx, [[rbx+24]]
    "48 8b 43 20 4c 8b 10", //    mov r10, [[rbx+32]]
    "48 8b 43 28 4c 8b 00", //    mov r8, [[rbx+40]]
    "48 8b 43 30 4c 8b 08", //    mov r9, [[rbx+48]]
    "48 8b 03", //                mov rax, [rbx]
    "0f 05", //                   syscall
    "48 8b 4b 38 89 01", //       mov [[rbx+56]], eax
    "48 85 c0", //                test rax, rax
    "78 06", //                   js failed
    "48 83 c3 50", //             done: add rbx, 80
    "eb c0", //                   jmp next
    "48 8b 73 40", //             failed: mov rsi, [rbx+64]   the message
    "48 85 f6", //                test rsi, rsi
    "74 f1", //                   jz done                     none: a failure is all right
    "4c 8b 43 48", //             mov r8, [rbx+72]            its length
    "f7 d8", //                   neg eax                     errno, written at its end
    "4a 8d 7c 06 fe", //          lea rdi, [rsi+r8-2]
    "b9 0a 00 00 00", //          mov ecx, 10
    "41 b9 03 00 00 00", //       mov r9d, 3
    "31 d2", //                   digit: xor edx, edx
    "f7 f1", //                   div ecx
    "80 c2 30", //                add dl, '0'
    "88 17", //                   mov [rdi], dl
    "48 ff cf", //                dec rdi
    "41 ff c9", //                dec r9d
    "75 ef", //                   jnz digit
    "4c 89 c2", //                mov rdx, r8
    "bf 02 00 00 00", //          mov edi, 2                  standard error
    "b8 01 00 00 00 0f 05", //    mov eax, 1; syscall         write
    "bf 7e 00 00 00", //          mov edi, 126
    "b8 e7 00 00 00 0f 05", //    mov eax, 231; syscall       exit_group
  ],
};

const ARM64: Machine = {
  elfMachine: 183,
  pageBytes: 0x10000,
  code: [
    "13 0a a0 d2", // movz x19, #0x50, lsl #16
    "e0 0b 40 f9", // ldr x0, [sp, #16]            the program: argv[1]
    "60 02 00 f9", // str x0, [x19]
    "e0 43 00 91", // add x0, sp, #16              its arguments: &argv[1]
    "60 06 00 f9", // str x0, [x19, #8]
    "e1 03 40 f9", // ldr x1, [sp]                 argc
    "00 0c 01 8b", // add x0, x0, x1, lsl #3       the environment
    "60 0a 00 f9", // str x0, [x19, #16]
    "73 82 00 91", // add x19, x19, #0x20          the first call
    "60 06 40 f9 00 00 40 f9", // next: ldr x0, [[x19, #8]]
    "61 0a 40 f9 21 00 40 f9", // ldr x1, [[x19, #16]]
    "62 0e 40 f9 42 00 40 f9", // ldr x2, [[x19, #24]]
    "63 12 40 f9 63 00 40 f9", // ldr x3, [[x19, #32]]
    "64 16 40 f9 84 00 40 f9", // ldr x4, [[x19, #40]]
    "65 1a 40 f9 a5 00 40 f9", // ldr x5, [[x19, #48]]
    "68 02 40 f9", // ldr x8, [x19]
    "01 00 00 d4", // svc #0
    "69 1e 40 f9", // ldr x9, [x19, #56]
    "20 01 00 b9", // str w0, [x9]
    "60 00 f8 b7", // tbnz x0, #63, failed
    "73 42 01 91", // done: add x19, x19, #80
    "ee ff ff 17", // b next
    "61 22 40 f9", // failed: ldr x1, [x19, #64]   the message
    "a1 ff ff b4", // cbz x1, done                 none: a failure is all right
    "62 26 40 f9", // ldr x2, [x19, #72]           its length
    "e0 03 00 4b", // neg w0, w0                   errno, written at its end
    "23 00 02 8b", // add x3, x1, x2
    "63 08 00 d1", // sub x3, x3, #2
    "44 01 80 52", // mov w4, #10
    "65 00 80 52", // mov w5, #3
    "06 08 c4 1a", // digit: udiv w6, w0, w4
    "c7 80 04 1b", // msub w7, w6, w4, w0
    "e7 c0 00 11", // add w7, w7, #'0'
    "67 f4 1f 38", // strb w7, [x3], #-1
    "e0 03 06 2a", // mov w0, w6
    "a5 04 00 71", // subs w5, w5, #1
    "41 ff ff 54", // b.ne digit
    "40 00 80 d2", // mov x0, #2                   standard error
    "08 08 80 d2 01 00 00 d4", // mov x8, #64; svc #0    write
    "c0 0f 80 d2", // mov x0, #126
    "c8 0b 80 d2 01 00 00 d4", // mov x8, #94; svc #0    exit_group
  ],
};

const MACHINES: Readonly<Record<string, Machine>> = { x64: X64, arm64: ARM64 };

const HEADER_BYTES = 64;
const SEGMENT_BYTES = 56;
const LOAD = 1;
const EXECUTE = 1;
const WRITE = 2;
const READ = 4;
const STACK = 0x6474e551;

/** An executable file that plays this data; undefined where we do not know the processor. */
export function elfImage(data: Uint8Array, architecture: string): Uint8Array | undefined {
  const machine = MACHINES[architecture];
  if (!machine) return undefined;
  const segments = 3;
  const code = Buffer.from(machine.code.join("").replaceAll(" ", ""), "hex");
  const codeOffset = HEADER_BYTES + segments * SEGMENT_BYTES;
  const image = Buffer.alloc(machine.pageBytes + data.length);
  image.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1]);
  image.writeUInt16LE(2, 16);
  image.writeUInt16LE(machine.elfMachine, 18);
  image.writeUInt32LE(1, 20);
  image.writeBigUInt64LE(BigInt(CODE_ADDRESS + codeOffset), 24);
  image.writeBigUInt64LE(BigInt(HEADER_BYTES), 32);
  image.writeUInt16LE(HEADER_BYTES, 52);
  image.writeUInt16LE(SEGMENT_BYTES, 54);
  image.writeUInt16LE(segments, 56);
  const segment = (index: number, type: number, flags: number, words: readonly number[]): void => {
    const at = HEADER_BYTES + index * SEGMENT_BYTES;
    image.writeUInt32LE(type, at);
    image.writeUInt32LE(flags, at + 4);
    words.forEach((word, n) => {
      image.writeBigUInt64LE(BigInt(word), at + 8 + n * 8);
    });
  };
  const { pageBytes } = machine;
  const codeEnd = codeOffset + code.length;
  segment(0, LOAD, READ | EXECUTE, [0, CODE_ADDRESS, CODE_ADDRESS, codeEnd, codeEnd, pageBytes]);
  segment(1, LOAD, READ | WRITE, [
    pageBytes,
    DATA_ADDRESS,
    DATA_ADDRESS,
    data.length,
    data.length,
    pageBytes,
  ]);
  segment(2, STACK, READ | WRITE, [0, 0, 0, 0, 0, 16]);
  image.set(code, codeOffset);
  image.set(data, pageBytes);
  return image;
}
