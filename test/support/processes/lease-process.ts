import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { systemClock } from '../../../src/clock.ts';
import { silentLogger } from '../../../src/logger.ts';
import { openSubscriptionStore } from '../subscription-store.ts';

/**
 * A process that writes every few milliseconds whether its lease is valid, and in which epoch. It runs until it is
 * killed.
 */
const { coordination } = await openSubscriptionStore();
const options = { coordination, nodeId: 'node', leaseMilliseconds: 500, clock: systemClock, logger: silentLogger };
const lease = new NodeLease(options);
await lease.start();
setInterval(() => {
  const word = lease.isValid(systemClock.monotonic()) ? 'held' : 'ended';
  process.stdout.write(`${word} ${lease.epoch}\n`);
}, 10);
