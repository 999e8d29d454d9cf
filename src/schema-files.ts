import { readFileSync } from 'node:fs';

/** A JSON Schema document as parsed JSON. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/**
 * Reads one schema file of the contract.
 * @param name Path below schemas/, e.g. `events/loan-balance-changed.json`.
 */
export function loadSchema(name: string): JsonSchema {
  return JSON.parse(readFileSync(new URL(`../../schemas/${name}`, import.meta.url), 'utf8')) as JsonSchema;
}
