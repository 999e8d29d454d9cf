const switchWords: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  yes: true,
  1: true,
  false: false,
  off: false,
  no: false,
  0: false,
};

/**
 * Whether a text switches on or off, in any letter case; an empty one switches off.
 * @returns undefined for any other word
 */
export function readSwitch(text: string): boolean | undefined {
  if (text === '') return false;
  const word = text.toLowerCase();
  return Object.hasOwn(switchWords, word) ? switchWords[word] : undefined;
}
