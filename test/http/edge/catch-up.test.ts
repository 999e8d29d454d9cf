import { expect } from 'chai';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { after, before, describe, it } from 'mocha';
import type { EventLog } from '../../../src/ports/event-log.ts';
import { EventTypes } from '../../../src/broker/event-types/event-types.ts';
import { Publisher } from '../../../src/broker/publishing/publisher.ts';
import { readEventType } from '../../../src/broker/event-types/validation.ts';
import { NodeLease } from '../../../src/broker/streaming/node-lease.ts';
import { Registry } from '../../../src/broker/definitions/registry.ts';
import { Subscriptions } from '../../../src/broker/subscriptions/subscriptions.ts';
import { systemClock } from '../../../src/clock.ts';
import { createApplication } from '../../../src/http/edge/application.ts';
import { createCursorsRouter } from '../../../src/http/streaming/cursors.ts';
import { createEventTypesRouter } from '../../../src/http/streaming/event-types.ts';
import { createPublishingRouter } from '../../../src/http/streaming/publishing.ts';
import { createSubscriptionEventsRouter } from '../../../src/http/streaming/subscription-events.ts';
import { createSubscriptionsRouter } from '../../../src/http/streaming/subscriptions.ts';
import { silentLogger } from '../../../src/logger.ts';
import { createMetrics } from '../../../src/metrics.ts';
import { eventTypeBody, exampleMetadata, openBroker, type Broker } from '../../support/broker-on-embedded-log.ts';
import { call } from '../../support/http/client.ts';
import { overriding } from '../../support/stepping-log.ts';

/** One node makes a definition, another one, which hears of it later, is asked for it at once. */
describe('what was just created on one node', () => {
  let broker: Broker;
  let subscriptions: Subscriptions;
  let lateRegistry: Registry;
  let lease: NodeLease;
  let server: Server;
  let url: string;
  let made = 0;

  before(async () => {
    broker = await openBroker();
    const common = { coordination: broker.coordination, clock: systemClock, logger: silentLogger };
    subscriptions = new Subscriptions({ ...broker, ...common });
    const log = overriding<EventLog>(broker.log, {
      read: async (from, options) => {
        const result = await broker.log.read(from, options);
        await new Promise((resolve) => setTimeout(resolve, 15));
        return result;
      },
    });
    lateRegistry = new Registry(log, silentLogger);
    await lateRegistry.start();
    const metrics = createMetrics();
    const eventTypes = new EventTypes({ ...common, registry: lateRegistry, log });
    const publisher = new Publisher({ ...common, eventTypes, log, metrics });
    lease = new NodeLease({ ...common, nodeId: 'late', leaseMilliseconds: 60_000 });
    await lease.start();
    const services = { ...common, registry: lateRegistry, log, eventTypes, publisher, metrics, lease };
    const routers = [
      createSubscriptionEventsRouter(services).router,
      createCursorsRouter(services),
      createSubscriptionsRouter(services),
      createEventTypesRouter(services),
      createPublishingRouter(services),
    ];
    server = createServer(createApplication(routers, silentLogger));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    lease.stop();
    await lateRegistry.stop();
    await broker.close();
  });

  async function newType(): Promise<string> {
    made += 1;
    const name = `orders-${made}`;
    await broker.eventTypes.create(readEventType(eventTypeBody(name)));
    return name;
  }

  /** The other node has heard of the type, but not of the subscription. */
  async function newSubscription(): Promise<string> {
    const name = await newType();
    await lateRegistry.catchUp();
    const { subscription } = await subscriptions.create({ owning_application: 'shop', event_types: [name] });
    expect(lateRegistry.get('subscription', subscription.id)).to.equal(undefined);
    return subscription.id;
  }

  const asked: [string, () => Promise<number>][] = [
    ['an event type is shown', async () => (await call(`${url}/event-types/${await newType()}`, 'GET')).status],
    [
      'its partitions are listed',
      async () => (await call(`${url}/event-types/${await newType()}/partitions`, 'GET')).status,
    ],
    [
      'an event is published to it',
      async () => {
        const event = { metadata: exampleMetadata() };
        return (await call(`${url}/event-types/${await newType()}/events`, 'POST', [event])).status;
      },
    ],
    [
      'a subscription to it is created',
      async () => {
        const body = { owning_application: 'shop', event_types: [await newType()] };
        return (await call(`${url}/subscriptions`, 'POST', body)).status - 1;
      },
    ],
    [
      'a subscription is shown',
      async () => (await call(`${url}/subscriptions/${await newSubscription()}`, 'GET')).status,
    ],
    [
      'its cursors are listed',
      async () => (await call(`${url}/subscriptions/${await newSubscription()}/cursors`, 'GET')).status,
    ],
    [
      'it is streamed',
      async () => {
        const response = await fetch(`${url}/subscriptions/${await newSubscription()}/events`);
        await response.body?.cancel();
        return response.status;
      },
    ],
  ];
  for (const [what, ask] of asked) {
    it(`is found on another node when ${what}`, async () => {
      expect(await ask()).to.equal(200);
    });
  }

  it('is distinguished from names that do not exist', async () => {
    expect((await call(`${url}/event-types/nothing`, 'GET')).status).to.equal(404);
    expect((await call(`${url}/subscriptions/nothing/cursors`, 'GET')).status).to.equal(404);
  });
});
