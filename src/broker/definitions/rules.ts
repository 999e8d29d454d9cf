import { LendstreamError, type FieldViolation } from '../../errors.ts';

/**
 * Rules that definitions of event types and of subscriptions share: text lengths, authorization, annotations and
 * labels. All of it stays in memory and appears in every list, so every part has a limit. Pure.
 */

/** Characters of the name of an application, of a consumer group, or of a part of an authorization. */
export const nameCharactersMaximum = 255;

/** Attributes of one role in an authorization. */
export const attributesMaximum = 100;

/** Annotations, or labels, of one definition. */
export const keyedEntriesMaximum = 100;

/** Characters of an annotation's value, of a label's value, of a key's name and of its prefix. */
export const annotationCharactersMaximum = 1_000;
export const labelCharactersMaximum = 63;
export const keyNameCharactersMaximum = 63;
export const keyPrefixCharactersMaximum = 253;

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

/** For each role, those who have it. */
export type Authorization<Role extends string> = Readonly<Record<Role, readonly AuthorizationAttribute[]>>;

export interface AuthorizationAttribute {
  readonly data_type: string;
  readonly value: string;
}

/**
 * Reads an authorization. Fields other than the roles are ignored.
 * @param authorization As it was sent; null when there was none.
 * @param violations Findings are added here.
 */
export function readAuthorization<const Role extends string>(
  authorization: Readonly<Record<string, unknown>> | null,
  roles: readonly Role[],
  violations: FieldViolation[],
): Authorization<Role> | null {
  if (authorization === null) return null;
  const entries = roles.map((role) => [role, readAttributes(`authorization.${role}`, authorization[role], violations)]);
  return Object.fromEntries(entries) as Authorization<Role>;
}

function readAttributes(field: string, attributes: unknown, violations: FieldViolation[]): AuthorizationAttribute[] {
  if (!Array.isArray(attributes) || attributes.length === 0) {
    violations.push({ field, message: 'must contain at least one attribute' });
    return [];
  }
  const tooMany = countViolations(field, attributes, attributesMaximum);
  violations.push(...tooMany);
  if (tooMany.length > 0) return [];
  if (!attributes.every(isAttribute)) {
    violations.push({ field, message: 'must consist of attributes with data_type and value' });
    return [];
  }
  return attributes.map(({ data_type, value }, index) => {
    violations.push(
      ...lengthViolations(`${field}[${index}].data_type`, data_type),
      ...lengthViolations(`${field}[${index}].value`, value),
    );
    return { data_type, value };
  });
}

function isAttribute(value: unknown): value is AuthorizationAttribute {
  if (typeof value !== 'object' || value === null) return false;
  const { data_type: type, value: text } = value as Readonly<Record<string, unknown>>;
  return typeof type === 'string' && typeof text === 'string';
}

/** Whether an attribute has a role. Definitions stored before roles were checked may have any form. */
export function hasRole(
  authorization: Readonly<Record<string, unknown>> | null,
  role: string,
  { data_type, value }: AuthorizationAttribute,
): boolean {
  const attributes = authorization?.[role];
  if (!Array.isArray(attributes)) return false;
  return attributes.some(
    (attribute) => isAttribute(attribute) && attribute.data_type === data_type && attribute.value === value,
  );
}

/** @throws UNPROCESSABLE when the change removes an existing authorization */
export function checkAuthorizationChange(current: object | null, wanted: object | null): void {
  if (current === null || wanted !== null) return;
  const detail = 'Changing authorization object to `null` is not possible due to existing one';
  throw new LendstreamError('UNPROCESSABLE', detail);
}

/** Annotations or labels as they were sent. */
export type KeyedTexts = Readonly<Record<string, string | null>>;

/** @returns every rule that annotations break, each about the entry that breaks it */
export function annotationViolations(annotations: KeyedTexts | null): FieldViolation[] {
  return keyedViolations('annotations', annotations, (value) => longerThan(value, annotationCharactersMaximum));
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
