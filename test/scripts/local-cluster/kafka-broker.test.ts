import { expect } from 'chai';
import { describe, it } from 'mocha';
import { serverProperties } from '../../../scripts/local-cluster/kafka-broker.ts';

const nodes = [1, 2, 3].map((node) => ({ node, port: 20_000 + node, controllerPort: 30_000 + node }));
const [first] = nodes;
if (first === undefined) throw new Error('There is no node');

const sessionMilliseconds = 2_000;

describe('The properties of a Kafka node', () => {
  it('name its own ports, and the controllers of all nodes', () => {
    const lines = serverProperties({ nodes, sessionMilliseconds }, first, '/somewhere').split('\n');
    expect(lines).to.include.members([
      'node.id=1',
      'listeners=PLAINTEXT://127.0.0.1:20001,CONTROLLER://127.0.0.1:30001',
      'advertised.listeners=PLAINTEXT://127.0.0.1:20001',
      'controller.quorum.voters=1@127.0.0.1:30001,2@127.0.0.1:30002,3@127.0.0.1:30003',
      'log.dirs=/somewhere/logs',
      'min.insync.replicas=2',
      'controller.quorum.fetch.timeout.ms=600',
    ]);
  });

  it('require no replication of a single node', () => {
    const lines = serverProperties({ nodes: [first], sessionMilliseconds }, first, '/somewhere').split('\n');
    expect(lines).to.include('broker.session.timeout.ms=2000');
    expect(lines).to.include.members(['min.insync.replicas=1', 'transaction.state.log.replication.factor=1']);
  });

  it('contain no placeholder', () => {
    for (const all of [nodes, [first]])
      expect(serverProperties({ nodes: all, sessionMilliseconds }, first, '/somewhere')).not.to.match(/[{}]/);
  });
});
