import { jsonByte, readString, skipString } from '../../json-bytes.ts';

/** The most of a key that a refusal shows. Characters. */
const shownKeyCharactersMaximum = 100;

/**
 * The first key of an event that its object has already, as a JSON text, at any depth. Only a request that is refused
 * for one pays for this.
 * @param body JSON that a parser has accepted. @param start The first byte of the event. @param end One past its last.
 */
export function repeatedKey(body: Uint8Array, start: number, end: number): string | undefined {
  /** The keys of the objects that are open; undefined for a list. */
  const open: (Set<string> | undefined)[] = [];
  let keyDue = false;
  for (let index = start; index < end; index += 1) {
    const byte = body[index];
    if (byte === jsonByte.openBrace || byte === jsonByte.openBracket) {
      keyDue = byte === jsonByte.openBrace;
      open.push(keyDue ? new Set() : undefined);
    } else if (byte === jsonByte.closeBrace || byte === jsonByte.closeBracket) {
      open.pop();
    } else if (byte === jsonByte.comma) {
      keyDue = open.at(-1) !== undefined;
    } else if (byte === jsonByte.quote) {
      const after = skipString(body, index);
      if (keyDue) {
        const key = readString(body, index, after);
        if (open.at(-1)?.has(key) === true) return shown(key);
        open.at(-1)?.add(key);
        keyDue = false;
      }
      index = after - 1;
    }
  }
  return undefined;
}

function shown(key: string): string {
  const { length } = key;
  return JSON.stringify(length > shownKeyCharactersMaximum ? `${key.slice(0, shownKeyCharactersMaximum)}...` : key);
}
