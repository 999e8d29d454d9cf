import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';
import { every, systemClock, type Timer } from '../../clock.ts';

/**
 * Changes kafkajs's request queues, of which each connection has one. Programs that use a client of kafkajs itself load
 * this module too.
 */

/**
 * Nothing waits in a queue unless a broker throttles. Without this guard each connection would set a timer of 1 ms for
 * every request, for ever, of which Node 24 and later warn.
 */
const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
};

/**
 * How often it is checked whether responses are late: a request may last so much longer than its timeout. kafkajs has a
 * timer of 100 ms for each connection, and waking an idle process so often costs more than all that it does.
 * Milliseconds.
 */
export const lateResponsesMilliseconds = 500;

/** The queues of open connections. */
const open = new Set<RequestQueue>();
let timer: Timer | undefined;

RequestQueue.prototype.scheduleRequestTimeoutCheck = function (this: RequestQueue): void {
  if (!this.enforceRequestTimeout) return;
  open.add(this);
  timer ??= every(systemClock, lateResponsesMilliseconds, checkLateResponses);
};

const destroy = RequestQueue.prototype.destroy;
RequestQueue.prototype.destroy = function (this: RequestQueue): void {
  destroy.call(this);
  forget(this);
};

function checkLateResponses(): void {
  const now = systemClock.now();
  for (const queue of open) {
    queue.inflight.forEach((request) => {
      if (now - request.sentAt > request.requestTimeout) request.timeoutRequest();
    });
    if (!queue.isConnected()) forget(queue);
  }
}

function forget(queue: RequestQueue): void {
  if (!open.delete(queue) || open.size > 0) return;
  timer?.cancel();
  timer = undefined;
}
