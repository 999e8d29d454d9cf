import { LendstreamError, type FieldViolation } from '../../errors.ts';
import { lengthViolations, countViolations } from './length-limits.ts';

/** Attributes of one role in an authorization. */
export const attributesMaximum = 100;

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
