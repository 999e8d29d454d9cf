import { jsonPattern } from '../json-bytes.ts';

/** The lines of values in a JSON text, for showing findings. Lines count from 1. */
export interface JsonText {
  /** The line of each value, by its JSON pointer in the form `#/properties/amount`. */
  readonly lines: ReadonlyMap<string, number>;
  /** The line at which the text is no longer valid JSON; undefined when it is valid. */
  readonly fault: LineFinding | undefined;
}

export interface LineFinding {
  readonly line: number;
  readonly message: string;
}

class Fault extends Error {
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

/** Stricter than for JSON in general: the fault in a string is shown at its line. */
const stringPattern = /"(?:[^"\\\n\r\t]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const scalarPattern = new RegExp(String.raw`${jsonPattern.number}(?![\w.])|(?:true|false|null)(?!\w)`, 'y');
const spacePattern = /[ \t\r\n]*/y;

/** Reads a JSON text as far as it is valid. */
export function readJsonText(text: string): JsonText {
  const starts = lineStarts(text);
  const lines = new Map<string, number>();
  let position = 0;

  const skipSpace = (): void => {
    spacePattern.lastIndex = position;
    spacePattern.exec(text);
    position = spacePattern.lastIndex;
  };
  const expect = (mark: string, where: string): void => {
    if (text[position] !== mark) throw new Fault(position, `expected ${mark} ${where}${found()}`);
    position += 1;
  };
  const found = (): string =>
    position >= text.length ? ', found the end of the text' : `, found ${text[position] ?? ''}`;
  const readString = (what: string): string => {
    stringPattern.lastIndex = position;
    const match = stringPattern.exec(text)?.[0];
    if (match === undefined) {
      throw new Fault(
        position,
        text[position] === '"' ? 'this string is not closed, or not valid' : `expected ${what}${found()}`,
      );
    }
    const at = position;
    position += match.length;
    try {
      return JSON.parse(match) as string;
    } catch {
      throw new Fault(at, 'this string contains a control character');
    }
  };
  const readValue = (pointer: string): void => {
    skipSpace();
    lines.set(pointer, lineAt(starts, position));
    const first = text[position];
    if (first === '{') readObject(pointer);
    else if (first === '[') readArray(pointer);
    else if (first === '"') readString('a value');
    else {
      scalarPattern.lastIndex = position;
      const match = scalarPattern.exec(text)?.[0];
      if (match === undefined) throw new Fault(position, `expected a value${found()}`);
      position += match.length;
    }
    skipSpace();
  };
  const readObject = (pointer: string): void => {
    position += 1;
    skipSpace();
    const names = new Set<string>();
    while (text[position] !== '}') {
      if (names.size > 0) {
        expect(',', 'between two members');
        skipSpace();
      }
      const at = position;
      const name = readString('a name in quotation marks');
      if (names.has(name)) throw new Fault(at, `duplicate name "${name}"`);
      names.add(name);
      skipSpace();
      expect(':', `after "${name}"`);
      readValue(`${pointer}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`);
    }
    position += 1;
  };
  const readArray = (pointer: string): void => {
    position += 1;
    skipSpace();
    for (let index = 0; text[position] !== ']'; index += 1) {
      if (index > 0) expect(',', 'between two items');
      readValue(`${pointer}/${index}`);
    }
    position += 1;
  };

  try {
    readValue('#');
    if (position < text.length) throw new Fault(position, `expected the end of the text${found()}`);
    return { lines, fault: undefined };
  } catch (error) {
    if (error instanceof Fault) return { lines, fault: { line: lineAt(starts, error.at), message: error.message } };
    // Nested too deeply to be read here; the limit of the service is far below that.
    return { lines, fault: { line: 1, message: 'nested too deeply' } };
  }
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

/** The line of a position. */
function lineAt(starts: readonly number[], position: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= position) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}

/** The line of a pointer, or of the nearest existing value around it. */
export function lineOfPointer({ lines }: JsonText, pointer: string): number {
  for (let nearest = pointer; nearest.includes('/'); nearest = nearest.slice(0, nearest.lastIndexOf('/'))) {
    const line = lines.get(nearest);
    if (line !== undefined) return line;
  }
  return lines.get('#') ?? 1;
}

/** The findings in a message of the service, each with the line of the value that it names. */
export function findingsOf(text: JsonText, message: string): LineFinding[] {
  const parts = message.split(/\n|, (?=#)/);
  return parts.map((part) => {
    const pointer = /#(?:\/[^\s:,\]]*)*/.exec(part)?.[0] ?? '#';
    return { line: lineOfPointer(text, pointer), message: part };
  });
}
