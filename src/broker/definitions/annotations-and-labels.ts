import type { FieldViolation } from '../../errors.ts';
import { countViolations } from './length-limits.ts';

/** Annotations, or labels, of one definition. */
export const keyedEntriesMaximum = 100;

/** Characters of an annotation's value, of a label's value, of a key's name and of its prefix. */
export const annotationCharactersMaximum = 1_000;

export const labelCharactersMaximum = 63;

export const keyNameCharactersMaximum = 63;

export const keyPrefixCharactersMaximum = 253;

/** Annotations or labels as they were sent. */
export type KeyedTexts = Readonly<Record<string, string | null>>;

/** The prefix of annotations that have a meaning here. Others are only stored. */
const ownPrefix = 'lendstream/';

/**
 * @param meaningful The annotations of this kind of definition that have a meaning. Others with the same prefix would
 *   be taken for a setting and ignored.
 * @returns every rule that annotations break, each about the entry that breaks it
 */
export function annotationViolations(annotations: KeyedTexts | null, meaningful: readonly string[]): FieldViolation[] {
  const violations = keyedViolations('annotations', annotations, (value) =>
    longerThan(value, annotationCharactersMaximum),
  );
  if (violations.length > 0) return violations;
  const unknown = Object.keys(annotations ?? {}).filter(
    (key) => key.startsWith(ownPrefix) && !meaningful.includes(key),
  );
  return unknown.map((key) => ({
    field: `annotations[${key}]`,
    message: `is not known: with the prefix ${ownPrefix} there is ${meaningful.join(', ')}`,
  }));
}

/** @returns every rule that labels break, each about the entry that breaks it */
export function labelViolations(labels: KeyedTexts | null): FieldViolation[] {
  return keyedViolations('labels', labels, (value) => [
    ...longerThan(value, labelCharactersMaximum),
    // Within the limit on length, no value makes the expression slow.
    ...(value.length <= labelCharactersMaximum && value !== '' && !wordPattern.test(value)
      ? ['Should contain only allowed symbols']
      : []),
  ]);
}

/** Labels as they are kept: one that is null is left out. */
export function labelsOf(labels: KeyedTexts): Record<string, string> {
  return Object.fromEntries(Object.entries(labels).flatMap(([key, value]) => (value === null ? [] : [[key, value]])));
}

/** Keys are `name` or `prefix/name` with a DNS name as the prefix, as in Kubernetes. */
function keyedViolations(
  field: 'annotations' | 'labels',
  entries: KeyedTexts | null,
  valueFindings: (value: string) => string[],
): FieldViolation[] {
  const pairs = Object.entries(entries ?? {});
  const tooMany = countViolations(field, pairs, keyedEntriesMaximum);
  if (tooMany.length > 0) return tooMany;
  return pairs.flatMap(([key, value]) => {
    const messages = [...keyFindings(key), ...(value === null ? [] : valueFindings(value))];
    return messages.map((message) => ({ field: `${field}[${shorten(key)}]`, message }));
  });
}

function longerThan(value: string, charactersMaximum: number): string[] {
  return value.length > charactersMaximum ? [`must contain at most ${charactersMaximum} characters`] : [];
}

/** Letters and digits with dashes, underscores and dots between them. */
const wordPattern = /^[a-z0-9A-Z]([-_.a-z0-9A-Z]*[a-z0-9A-Z])?$/;

const domainPattern = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

function keyFindings(key: string): string[] {
  const slash = key.indexOf('/');
  const prefix = slash === -1 ? null : key.slice(0, slash);
  const name = key.slice(slash + 1);
  const findings: string[] = [];
  if (key === '') findings.push('Key cannot be empty');
  if (prefix !== null && prefix.length > keyPrefixCharactersMaximum) {
    findings.push(`Key prefix cannot be more than ${keyPrefixCharactersMaximum} characters.`);
  } else if (prefix !== null && !domainPattern.test(prefix)) {
    findings.push('Key name should be an optional lowercase domain name with path');
  }
  if (name.length > keyNameCharactersMaximum) {
    findings.push(`Key name cannot be more than ${keyNameCharactersMaximum} characters.`);
  } else if (!wordPattern.test(name)) findings.push('Key name should start and end with a letter or a digit');
  return findings;
}

function shorten(key: string): string {
  return key.slice(0, keyPrefixCharactersMaximum);
}
