import type { MeasuredService } from '../measured-service.ts';

/** A key of the registry, as it is presented. */
export interface PresentedKey {
  readonly apiKey: string;
  /** The header of a request, ended by CR LF. */
  readonly headers: string;
}

/** More than any machine answers, so that a measurement never meets them. */
const manyPerSecond = 1_000_000;

/**
 * Creates a key of the application that owns what the benchmark defines. Its holder may publish, stream and commit, and
 * nothing else. @param limits Where it names none, no measurement meets any.
 */
export async function createKey(
  service: MeasuredService,
  limits: Readonly<Record<string, number>> = { requests_per_second: manyPerSecond, commits_per_second: manyPerSecond },
): Promise<PresentedKey> {
  const { key } = await service.call('POST', '/api-keys', {
    name: `bench-${(created += 1)}`,
    owning_application: 'bench',
    scopes: ['producer', 'consumer'],
    limits,
  });
  return { apiKey: String(key), headers: `Authorization: Bearer ${String(key)}\r\n` };
}

let created = 0;
