import type { ErrorRequestHandler, RequestHandler } from 'express';
import { AccessControl } from './access/access-control.ts';
import type { AccessTokens } from './access/access-tokens.ts';
import { ApiKeys } from './access/api-keys.ts';
import { FailedLogins } from './access/limits/failed-logins.ts';
import { HeldRefusals } from './access/limits/held-refusals.ts';
import { Usages } from './access/limits/usage.ts';
import { AccessRefusals } from './audit/access-refusals.ts';
import { auditPartitionCount } from './audit/audit-entry.ts';
import { AuditLog } from './audit/audit-log.ts';
import type { Registry } from './broker/definitions/registry.ts';
import type { Clock } from './clock.ts';
import type { Config } from './config.ts';
import { describeError } from './errors.ts';
import { createAudit, createRefusalReport } from './http/access/audit.ts';
import { createAuthentication } from './http/access/authentication.ts';
import { createAuthorization } from './http/access/authorization.ts';
import { createLimits } from './http/access/limits/limits.ts';
import { RefusalWarnings } from './http/access/limits/refusal-warnings.ts';
import { createRefusalHolding } from './http/access/limits/refusal-holding.ts';
import { StreamTokens } from './http/access/stream-tokens.ts';
import { giveTokensBack } from './http/access/unopened-streams.ts';
import { UserStreamTokens } from './http/access/user-stream-tokens.ts';
import type { Logger } from './logger.ts';
import type { Metrics } from './metrics.ts';
import type { Coordination } from './ports/coordination.ts';
import type { EventLog } from './ports/event-log.ts';

/** What decides who may do what, and records who did it. */
export interface AccessServices {
  readonly keys: ApiKeys;
  readonly access: AccessControl;
  readonly streamTokens: StreamTokens;
  /** Says who sends a request. Mount it before every router but those that need to know nothing of it. */
  readonly authentication: RequestHandler;
  /** Limits, permissions and the audit, in this order. Mount them before every router that serves a request. */
  readonly guards: readonly RequestHandler[];
  /** What happens to a request that failed. Mount them after every router. */
  readonly afterErrors: readonly ErrorRequestHandler[];
  /** Takes every error that a request ends with. */
  readonly reportRefusal: ReturnType<typeof createRefusalReport>;
}

export interface AccessServicesOptions {
  readonly config: Config;
  readonly log: EventLog;
  readonly registry: Registry;
  readonly coordination: Coordination;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: Metrics;
  readonly registerCleanup: (close: () => Promise<void> | void) => void;
}

/** Assembles keys, tokens, limits and the audit, as the settings say it. */
export async function openAccess({
  config,
  log,
  registry,
  coordination,
  clock,
  logger,
  metrics,
  registerCleanup,
}: AccessServicesOptions): Promise<AccessServices> {
  const usages = new Usages(config.keyLimits, clock);
  const keys = new ApiKeys({
    registry,
    clock,
    limitsOf: (principal) => usages.limitsOf(principal),
    onError: (error) => logger.warn({ error: describeError(error) }, 'The last use of an API key was not stored'),
  });
  const access = new AccessControl({ registry, keys, clock });
  registerCleanup(() => access.close());
  // On one machine a single process writes, and all records have one order.
  const auditPartitions =
    config.cluster === undefined ? [0] : Array.from({ length: auditPartitionCount }, (_, at) => at);
  const audit = new AuditLog({ log, clock, logger, metrics, partitions: auditPartitions });
  registerCleanup(() => audit.close());
  const refusals = new AccessRefusals({ audit, clock });
  registerCleanup(() => refusals.close());
  const streamTokens = new StreamTokens({
    environmentKeys: config.apiKeys,
    keys,
    clock,
    claim: (name, milliseconds) => coordination.claim(name, milliseconds),
    releaseClaim: (name) => coordination.releaseClaim(name),
    users: config.accessTokens === undefined ? undefined : new UserStreamTokens(registry),
  });
  const authentication = createAuthentication({
    isOpen: config.isOpen,
    environmentKeys: config.apiKeys,
    keys,
    accessTokens: await accessTokensOf(config, clock),
    tokens: streamTokens,
    failedLogins: new FailedLogins(config.addressLimits, clock),
  });
  const auditing = createAudit({
    audit,
    registry,
    clock,
    cursorsOf: (id) => coordination.committedOffsets(id),
  });
  return {
    keys,
    access,
    streamTokens,
    authentication,
    guards: [createLimits(usages), createAuthorization(access), auditing],
    afterErrors: [giveTokensBack, createRefusalHolding(new HeldRefusals(clock))],
    reportRefusal: createRefusalReport(refusals, metrics.accessRefusals, new RefusalWarnings(clock, logger)),
  };
}

/** Its library is loaded only where an identity provider is set. */
async function accessTokensOf({ accessTokens: rules }: Config, clock: Clock): Promise<AccessTokens | undefined> {
  if (rules === undefined) return undefined;
  const { AccessTokens } = await import('./access/access-tokens.ts');
  return new AccessTokens(rules, clock);
}
