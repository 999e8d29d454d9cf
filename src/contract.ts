import type { Contract } from './contract.generated.ts';

/**
 * The JSON between the service and its clients, as types made from schemas/. Code that builds a response or reads a
 * request uses them, so that it fails to compile where it differs from the description.
 */

/** Every schema of the description by its name. */
export type Schemas = Immutable<Contract['schemas']>;

/** The JSON of requests, by operationId. */
export type Requests = Immutable<Contract['requests']>;

/** The JSON of successful responses, by operationId; for a stream, the JSON of one line. */
export type Responses = Immutable<Contract['responses']>;

/** JSON that a client sent, before it is checked: only the names of its fields are trusted. */
export type Unread<Body> = { readonly [Field in keyof Body]?: unknown };

/** The same JSON with another type for its numbers: JSON whose numbers are exact has no `number` in memory. */
export type WithNumbersAs<Exact, Value> = Value extends number
  ? Exact
  : Value extends object
    ? { readonly [Field in keyof Value]: WithNumbersAs<Exact, Value[Field]> }
    : Value;

type Immutable<Value> = Value extends object ? { readonly [Field in keyof Value]: Immutable<Value[Field]> } : Value;
