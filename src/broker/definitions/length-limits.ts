import type { FieldViolation } from '../../errors.ts';

/**
 * The lengths of texts and lists in definitions of event types and of subscriptions. All of it stays in memory and
 * appears in every list, so every part has a limit. Pure.
 */

/** Characters of the name of an application, of a consumer group, or of a part of an authorization. */
export const nameCharactersMaximum = 255;

/** @returns the finding about a text that is too long */
export function lengthViolations(field: string, text: string, charactersMaximum = nameCharactersMaximum) {
  return text.length > charactersMaximum
    ? [{ field, message: `must contain at most ${charactersMaximum} characters` }]
    : [];
}

/** @returns the finding about a list that is too long */
export function countViolations(field: string, list: readonly unknown[], elementsMaximum: number): FieldViolation[] {
  return list.length > elementsMaximum ? [{ field, message: `must contain at most ${elementsMaximum} elements` }] : [];
}
