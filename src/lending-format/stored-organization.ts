import type { Registry } from '../broker/definitions/registry.ts';
import { toTimestamp } from '../clock.ts';
import type { AdditionalFields } from '../lending/additional-fields.ts';
import { type Organization, defaultOrganization } from '../lending/organization.ts';

/** The organization as the registry keeps it. */
export interface OrganizationRecord extends Partial<Organization> {
  /** What no rule reads: the address, how to reach people. Plain JSON. */
  readonly additionalFields?: AdditionalFields;
  /** RFC 3339. */
  readonly creationDate: string;
  readonly lastModifiedDate: string;
}

/** There is one organization, and this is the name of its record. */
const recordName = 'setup';

/** The organization as this process sees it now. What its admin has not set is as in {@link defaultOrganization}. */
export function readOrganization(registry: Registry): Organization {
  const record = organizationRecord(registry);
  if (record === undefined) return defaultOrganization;
  const { additionalFields: _, creationDate: __, lastModifiedDate: ___, ...fields } = record;
  return { ...defaultOrganization, ...fields };
}

/** The organization's record; undefined when its admin has set nothing. */
export function organizationRecord(registry: Registry): OrganizationRecord | undefined {
  return registry.get<OrganizationRecord>('organization', recordName);
}

/** What a request changes of the organization. */
export type OrganizationChanges = Partial<Organization> & Pick<OrganizationRecord, 'additionalFields'>;

/**
 * Changes the organization durably and returns when this process sees it. A change begins from the newest state.
 * @param changesOf What to set, from the state that the change begins from.
 * @param now Milliseconds since the epoch.
 * @throws CONFLICT when another request has changed it at the same time, what `changesOf` throws, and the errors of
 *   the log
 */
export async function changeOrganization(
  registry: Registry,
  changesOf: (organization: Organization) => OrganizationChanges,
  now: number,
): Promise<void> {
  await registry.catchUp();
  const before = organizationRecord(registry);
  const revision = registry.revise('organization', recordName);
  const time = toTimestamp(now);
  const changes = changesOf(readOrganization(registry));
  await revision.put({
    creationDate: time,
    ...before,
    ...changes,
    lastModifiedDate: time,
  } satisfies OrganizationRecord);
}
