import type { Contract } from './contract.generated.ts';

/**
 * What the service and its clients send each other, as types made from schemas/: where an answer is built or a request
 * read, these are what a difference to the description fails to compile against.
 */

/** Every schema of the description by its name. */
export type Schemas = Immutable<Contract['schemas']>;

/** The JSON that operations are sent, by operationId. */
export type Requests = Immutable<Contract['requests']>;

/** The JSON that operations answer with when they succeed, by operationId; of a stream a line. */
export type Answers = Immutable<Contract['answers']>;

/** JSON of which only the names of its fields are trusted: what a client sent, before it is looked at. */
export type Unread<Body> = { readonly [Field in keyof Body]?: unknown };

/** With another type in place of number: JSON whose numbers are exact has no numbers in memory. */
export type WithNumbersAs<Exact, Value> = Value extends number
  ? Exact
  : Value extends object
    ? { readonly [Field in keyof Value]: WithNumbersAs<Exact, Value[Field]> }
    : Value;

type Immutable<Value> = Value extends object ? { readonly [Field in keyof Value]: Immutable<Value[Field]> } : Value;
