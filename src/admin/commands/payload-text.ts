/**
 * The payload of a command as JSON that a person edits, and its fields in a form.
 * The text is what counts: a field is read from it and written into it, with all digits of its numbers.
 */

import { numberToShow, parseToShow, scalarText, shownJson } from '../exact-numbers.ts';
import type { CommandField } from './command-fields.ts';

type Members = Readonly<Record<string, unknown>>;

const numberForm = /^-?(?:0|[1-9]\d*)(?:\.\d+)?$/;

/** A payload over several lines. @param json Valid JSON. */
export function formattedPayload(json: string): string {
  return shownJson(parseToShow(json), 2);
}

/** The content of a field; empty when the payload does not have it. @param text Valid JSON. */
export function fieldText(text: string, { path }: Pick<CommandField, 'path'>): string {
  return scalarText(path.reduce((inner, step) => membersOf(inner)[step], parseToShow(text)));
}

/** The payload with another content of a field. An empty one leaves the field out. @param text Valid JSON. */
export function withFieldText(text: string, field: CommandField, content: string): string {
  return shownJson(withMember(parseToShow(text), field.path, valueOf(field, content)) ?? {}, 2);
}

/** What a content is in JSON; undefined for nothing. */
function valueOf({ kind, options }: CommandField, content: string): unknown {
  if (content === '') return undefined;
  // What is no number is sent as the text that it is, and the service says what is wrong with it.
  if (kind === 'number' || kind === 'count') return numberForm.test(content) ? numberToShow(content) : content;
  const isFlag = kind === 'choice' && options.includes('true') && options.includes('false');
  return isFlag ? content === 'true' : content;
}

/** An object with another value at a path; undefined when nothing is left of an object that was made for it. */
function withMember(value: unknown, [step = '', ...rest]: readonly string[], member: unknown): unknown {
  const { [step]: before, ...others } = membersOf(value);
  const after = rest.length === 0 ? member : withMember(before, rest, member);
  // What is changed stays at its place.
  const members =
    before === undefined || after === undefined
      ? { ...others, ...(after === undefined ? {} : { [step]: after }) }
      : { ...membersOf(value), [step]: after };
  return Object.keys(members).length === 0 ? undefined : members;
}

function membersOf(value: unknown): Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};
}

/** The payload without some of its members. @param text Valid JSON. */
export function withoutMembers(text: string, names: readonly string[]): string {
  const kept = Object.entries(membersOf(parseToShow(text))).filter(([name]) => !names.includes(name));
  return shownJson(Object.fromEntries(kept));
}
