import RequestQueue from 'kafkajs/src/network/requestQueue/index.js';

/**
 * Nothing waits in kafkajs's request queue unless a broker throttles. Without this guard each connection would set a
 * timer of 1 ms for every request, for ever, of which Node 24 and later warn. Programs that use a client of kafkajs
 * itself load this module too.
 */
const schedule = RequestQueue.prototype.scheduleCheckPendingRequests;
RequestQueue.prototype.scheduleCheckPendingRequests = function (this: RequestQueue): void {
  if (this.pending.length > 0) schedule.call(this);
};
