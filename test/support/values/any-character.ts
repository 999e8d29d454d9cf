import * as fc from 'fast-check';

/**
 * Any character of Unicode, as a unit of `fc.string`. The library's own unit `binary` has the same ones, but makes a
 * table of all of them for each property, which takes a second.
 */
export const anyCharacter = fc
  .oneof(fc.integer({ min: 0, max: 0xd7ff }), fc.integer({ min: 0xe000, max: 0x10ffff }))
  .map((codePoint) => String.fromCodePoint(codePoint));
