import { expect } from 'chai';
import { after, before, describe, it } from 'mocha';
import type { App } from '../../../src/app.ts';
import { systemClock } from '../../../src/clock.ts';
import { readConfig } from '../../../src/config.ts';
import { streamTokenMilliseconds } from '../../../src/http/access/stream-tokens.ts';
import { call, type HttpResponse } from '../../support/http/client.ts';
import { removeFolder, temporaryFolder } from '../../support/processes/service.ts';
import { recordingLogger } from '../../support/values/recording-logger.ts';
import { createAppHere } from '../../support/processes/service-here.ts';

const apiKey = 'key-of-this-test';
const headers = { apikey: apiKey };
const eventType = 'loan_balance_changed';
const path = `/event-types/${eventType}/events`;

for (const [description, environment] of [
  ['with keys', { API_KEYS: `${apiKey},another-key-of-this-test` }],
  ['without keys', {}],
] as const) {
  describe(`stream tokens of a service ${description}`, () => {
    const isOpen = description === 'without keys';
    const { logger, lines } = recordingLogger();
    const issued: string[] = [];
    let lateness = 0;
    let folder: string;
    let app: App;
    let url: string;

    before(async () => {
      folder = await temporaryFolder();
      const clock = { ...systemClock, now: () => Date.now() + lateness };
      app = await createAppHere(readConfig({ DATA_DIR: folder, PORT: '0', ...environment }), logger, clock);
      url = await app.start();
    });

    after(async () => {
      await app.stop();
      await removeFolder(folder);
    });

    async function issue(body: unknown): Promise<HttpResponse> {
      const response = await call(`${url}/stream-tokens`, 'POST', body, headers);
      if (response.status === 201) issued.push(String(response.body['token']));
      return response;
    }

    async function statusOf(openedPath: string, token: string, method = 'GET'): Promise<number> {
      const query = `?stream_timeout=1&batch_flush_timeout=1&stream_token=${token}`;
      const response = await fetch(`${url}${openedPath}${query}`, { method });
      await response.text();
      return response.status;
    }

    it('are given for what exists, and for one thing', async () => {
      const { status, body } = await issue({ event_type: eventType });
      expect(status).to.equal(201);
      expect(Date.parse(String(body['expires_at'])) - Date.now()).to.be.within(1, streamTokenMilliseconds);
      for (const wrong of [{}, { event_type: 'nothing' }, { subscription_id: 'nothing' }, { event_type: 7 }]) {
        expect((await issue(wrong)).status, JSON.stringify(wrong)).to.equal(422);
      }
      expect((await issue({ event_type: eventType, subscription_id: 'x' })).status).to.equal(422);
      expect((await issue('[')).status).to.equal(400);
      expect((await call(`${url}/stream-tokens`, 'GET', undefined, headers)).status).to.equal(405);
    });

    if (isOpen) {
      it('are not needed, and do no harm', async () => {
        const token = String((await issue({ event_type: eventType })).body['token']);
        for (const given of [token, token, 'wrong']) expect(await statusOf(path, given)).to.equal(200);
      });
      return;
    }

    it('are given to holders of a key only', async () => {
      expect((await call(`${url}/stream-tokens`, 'POST', { event_type: eventType })).status).to.equal(401);
    });

    it('open one stream of an event type, once', async () => {
      const token = String((await issue({ event_type: eventType })).body['token']);
      expect(await statusOf('/event-types/loan_fee_event/events', token)).to.equal(401);
      expect(await statusOf(path, token, 'DELETE')).to.equal(401);
      expect(await statusOf('/event-types', token)).to.equal(401);
      expect(await statusOf(path, token)).to.equal(200);
      expect(await statusOf(path, token)).to.equal(401);
    });

    it('open one stream of a subscription, and commit nothing', async () => {
      const subscription = { owning_application: 'page', event_types: [eventType] };
      const created = await call(`${url}/subscriptions`, 'POST', subscription, headers);
      const id = String(created.body['id']);
      const token = String((await issue({ subscription_id: id })).body['token']);
      expect(await statusOf(`/subscriptions/${id}/stats`, token)).to.equal(401);
      expect(await statusOf(`/subscriptions/${id}/cursors`, token)).to.equal(401);
      expect(await statusOf(`/subscriptions/${id}/events`, token)).to.equal(200);
      expect(await statusOf(`/subscriptions/${id}/events`, token)).to.equal(401);
    });

    it('end after a minute', async () => {
      const token = String((await issue({ event_type: eventType })).body['token']);
      lateness = streamTokenMilliseconds;
      expect(await statusOf(path, token)).to.equal(401);
      lateness = 0;
    });

    it('are in no line of the log', () => {
      expect(issued.length).to.be.greaterThan(2);
      const log = JSON.stringify(lines);
      for (const token of issued) expect(log).not.to.include(token);
    });
  });
}
