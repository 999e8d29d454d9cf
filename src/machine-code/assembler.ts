/**
 * Assembles a module of WebAssembly from text, so that the program is read where it stands and no binary has to be kept
 * or compiled elsewhere. Knows the instructions that this product uses; all values are 32-bit integers, except those
 * that `v128` instructions leave on the stack.
 */

export interface Routine {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Further variables, 0 at first. */
  readonly variables?: readonly string[];
  /** Whether the value that is left on the stack is returned. */
  readonly returns: boolean;
  /**
   * Instructions in the order of execution, separated by white space. A variable is followed by its name, a jump by
   * how many enclosing blocks it leaves (the beginning of a loop counts as its end), a load or store by a number that
   * is added to the address.
   */
  readonly code: string;
}

type Operand = 'none' | 'variable' | 'number' | 'offset' | 'count';

const instructions: Readonly<Record<string, readonly [operand: Operand, ...code: readonly number[]]>> = {
  block: ['none', 0x02, 0x40],
  loop: ['none', 0x03, 0x40],
  end: ['none', 0x0b],
  br_if: ['count', 0x0d],
  'local.get': ['variable', 0x20],
  'local.set': ['variable', 0x21],
  'local.tee': ['variable', 0x22],
  'i32.load': ['offset', 0x28],
  'i32.store': ['offset', 0x36],
  'i32.store8': ['offset', 0x3a],
  'i32.const': ['number', 0x41],
  'i32.lt_u': ['none', 0x49],
  'i32.ge_u': ['none', 0x4f],
  'i32.add': ['none', 0x6a],
  'i32.sub': ['none', 0x6b],
  'v128.load': ['offset', 0xfd, 0x00],
  'v128.store': ['offset', 0xfd, 0x0b],
  'v128.xor': ['none', 0xfd, 0x51],
};

const i32 = 0x7f;
const functionType = 0x60;
const [functionExport, memoryExport] = [0x00, 0x02];
const section = { types: 1, functions: 3, memories: 5, exports: 7, code: 10 } as const;
const magicAndVersion = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/**
 * @param pages The size of its memory, which is exported as `memory`, in pages of 64 KiB.
 * @throws Error for an instruction or a variable that is not known
 */
export function assemble(routines: readonly Routine[], pages: number): Uint8Array {
  const types = routines.map(({ parameters, returns }) => [
    functionType,
    ...list(parameters.map(() => [i32])),
    ...list(returns ? [[i32]] : []),
  ]);
  const exports = routines.map(({ name }, index) => [...text(name), functionExport, index]);
  return Uint8Array.from([
    ...magicAndVersion,
    ...sectionOf(section.types, types),
    ...sectionOf(
      section.functions,
      routines.map((_, index) => [index]),
    ),
    ...sectionOf(section.memories, [[0x00, ...unsigned(pages)]]),
    ...sectionOf(section.exports, [...exports, [...text('memory'), memoryExport, 0]]),
    ...sectionOf(section.code, routines.map(bodyOf)),
  ]);
}

function bodyOf({ parameters, variables = [], code }: Routine): number[] {
  const names = [...parameters, ...variables];
  const bytes = list(variables.length === 0 ? [] : [[...unsigned(variables.length), i32]]);
  const words = code.split(/\s+/).filter((word) => word !== '');
  for (let at = 0; at < words.length; at += 1) {
    const instruction = instructions[words[at] as string];
    if (instruction === undefined) throw new Error(`No instruction: ${words[at]}`);
    const [operand, ...opcode] = instruction;
    bytes.push(...opcode);
    if (operand === 'none') continue;
    at += 1;
    bytes.push(...operandBytes(operand, words[at] ?? '', names));
  }
  bytes.push(0x0b);
  return [...unsigned(bytes.length), ...bytes];
}

function operandBytes(operand: Exclude<Operand, 'none'>, word: string, names: readonly string[]): number[] {
  const value = operand === 'variable' ? names.indexOf(word) : Number(word);
  if (word === '' || !Number.isInteger(value) || value < 0) throw new Error(`No ${operand}: ${word}`);
  if (operand === 'number') return signed(value);
  // Addresses may have any alignment.
  return operand === 'offset' ? [0, ...unsigned(value)] : unsigned(value);
}

function sectionOf(id: number, items: readonly (readonly number[])[]): number[] {
  const content = list(items);
  return [id, ...unsigned(content.length), ...content];
}

function list(items: readonly (readonly number[])[]): number[] {
  return [...unsigned(items.length), ...items.flat()];
}

function text(value: string): number[] {
  return [...unsigned(value.length), ...Buffer.from(value, 'latin1')];
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

/** The last byte of a positive number has its second-highest bit clear. */
function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x40; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}
