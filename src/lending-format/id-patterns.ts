import { createHash } from 'node:crypto';

const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ';
const digits = '0123456789';

/** What each place of a pattern may become. Any other character stays as it is. */
const choices: Readonly<Record<string, string>> = { '@': letters, '#': digits, $: letters + digits };

/** Bytes of chance for one place: so many that each of its characters is about as likely as the others. */
const bytesPerPlace = 2;

/**
 * An id in the form of a pattern: `@` is a letter, `#` a digit, `$` either.
 * @param seed Decides the id: the same seed gives the same one.
 */
export function idFromPattern(pattern: string, seed: string): string {
  const chance = createHash('shake256', { outputLength: Math.max(pattern.length, 1) * bytesPerPlace })
    .update(seed)
    .digest();
  return Array.from(pattern, (place, index) => {
    const characters = choices[place];
    return characters?.[chance.readUInt16BE(index * bytesPerPlace) % characters.length] ?? place;
  }).join('');
}
