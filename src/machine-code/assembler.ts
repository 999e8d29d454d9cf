/**
 * Assembles a module of WebAssembly from text, so that the program is read where it stands and no binary has to be kept
 * or compiled elsewhere. Knows the instructions that this product uses; all values are 32-bit integers or vectors of 16
 * bytes.
 */

export interface Routine {
  readonly name: string;
  readonly parameters: readonly string[];
  /** Further variables, 0 at first. */
  readonly variables?: readonly string[];
  /** Variables of 16 bytes, 0 at first. */
  readonly vectors?: readonly string[];
  /** Whether the value that is left on the stack is returned. */
  readonly returns: boolean;
  /**
   * Instructions in the order of execution, separated by white space. `block`, `loop` and `if` may be followed by a
   * name, which begins with `$`. A variable is followed by its name, a jump by the name of the block that it leaves or
   * by how many enclosing blocks it leaves (the beginning of a loop counts as its end), a load or store by a number
   * that is added to the address, a constant vector by its bytes as hexadecimal digits.
   */
  readonly code: string;
}

type Operand = 'none' | 'name' | 'variable' | 'number' | 'offset' | 'jump' | 'vector';

const instructions: Readonly<Record<string, readonly [operand: Operand, ...code: readonly number[]]>> = {
  block: ['name', 0x02, 0x40],
  loop: ['name', 0x03, 0x40],
  if: ['name', 0x04, 0x40],
  else: ['none', 0x05],
  end: ['none', 0x0b],
  br: ['jump', 0x0c],
  br_if: ['jump', 0x0d],
  return: ['none', 0x0f],
  'local.get': ['variable', 0x20],
  'local.set': ['variable', 0x21],
  'local.tee': ['variable', 0x22],
  'i32.load': ['offset', 0x28],
  'i32.load8_u': ['offset', 0x2d],
  'i32.store': ['offset', 0x36],
  'i32.store8': ['offset', 0x3a],
  'i32.const': ['number', 0x41],
  'i32.eq': ['none', 0x46],
  'i32.ne': ['none', 0x47],
  'i32.lt_u': ['none', 0x49],
  'i32.gt_u': ['none', 0x4b],
  'i32.ge_u': ['none', 0x4f],
  'i32.ctz': ['none', 0x68],
  'i32.add': ['none', 0x6a],
  'i32.sub': ['none', 0x6b],
  'i32.mul': ['none', 0x6c],
  'i32.or': ['none', 0x72],
  'i32.xor': ['none', 0x73],
  'i32.shl': ['none', 0x74],
  'v128.load': ['offset', 0xfd, 0x00],
  'v128.store': ['offset', 0xfd, 0x0b],
  'v128.const': ['vector', 0xfd, 0x0c],
  'i8x16.eq': ['none', 0xfd, 0x23],
  'i8x16.lt_u': ['none', 0xfd, 0x26],
  'i8x16.gt_u': ['none', 0xfd, 0x28],
  'v128.or': ['none', 0xfd, 0x50],
  'v128.xor': ['none', 0xfd, 0x51],
  'v128.any_true': ['none', 0xfd, 0x53],
  'i8x16.bitmask': ['none', 0xfd, 0x64],
  'i8x16.sub': ['none', 0xfd, 0x71],
};

const i32 = 0x7f;
const v128 = 0x7b;
const functionType = 0x60;
const [functionExport, memoryExport] = [0x00, 0x02];
const section = { types: 1, functions: 3, memories: 5, exports: 7, code: 10 } as const;
const magicAndVersion = [0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00];

/**
 * @param pages The size of its memory, which is exported as `memory`, in pages of 64 KiB.
 * @throws Error for an instruction, a variable or a name that is not known
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

function bodyOf({ parameters, variables = [], vectors = [], code }: Routine): number[] {
  const names = [...parameters, ...variables, ...vectors];
  const declared = [[variables.length, i32] as const, [vectors.length, v128] as const];
  const bytes = list(declared.flatMap(([count, type]) => (count === 0 ? [] : [[...unsigned(count), type]])));
  const words = code.split(/\s+/).filter((word) => word !== '');
  /** The names of the blocks around the instruction, the outermost first. */
  const blocks: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    const instruction = instructions[word];
    if (instruction === undefined) throw new Error(`No instruction: ${word}`);
    const [operand, ...opcode] = instruction;
    bytes.push(...opcode);
    if (word === 'end') blocks.pop();
    if (operand === 'none') continue;
    const next = words[at + 1] ?? '';
    if (operand === 'name') {
      const isNamed = next.startsWith('$');
      blocks.push(isNamed ? next : '');
      if (isNamed) at += 1;
      continue;
    }
    at += 1;
    bytes.push(...operandBytes(operand, next, names, blocks));
  }
  bytes.push(0x0b);
  return [...unsigned(bytes.length), ...bytes];
}

function operandBytes(
  operand: Exclude<Operand, 'none' | 'name'>,
  word: string,
  names: readonly string[],
  blocks: readonly string[],
): number[] {
  if (operand === 'vector') {
    if (!/^[0-9a-f]{32}$/.test(word)) throw new Error(`No vector: ${word}`);
    return [...Buffer.from(word, 'hex')];
  }
  const value = valueOf(operand, word, names, blocks);
  if (word === '' || !Number.isInteger(value) || value < 0) throw new Error(`No ${operand}: ${word}`);
  if (operand === 'number') return signed(value);
  // Addresses may have any alignment.
  return operand === 'offset' ? [0, ...unsigned(value)] : unsigned(value);
}

function valueOf(operand: Operand, word: string, names: readonly string[], blocks: readonly string[]): number {
  if (operand === 'variable') return names.indexOf(word);
  if (operand !== 'jump' || !word.startsWith('$')) return Number(word);
  const block = blocks.lastIndexOf(word);
  return block < 0 ? block : blocks.length - 1 - block;
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
