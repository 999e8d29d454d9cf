import { Kafka, logLevel } from 'kafkajs';
import { join } from 'node:path';
import { KafkaConnections } from '../../../src/kafka/connection/connections.ts';
import type { KafkaRequest } from '../../../src/kafka/protocol/request.ts';
import { WireReader, WireWriter } from '../../../src/kafka/protocol/wire.ts';
import { silentLogger } from '../../../src/logger.ts';

/** What the brokers keep of these topics in their files, each record counted once. Bytes. */
export async function kafkaStoredBytes(brokers: readonly string[], topics: readonly string[]): Promise<number> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  const cluster = await admin.describeCluster();
  const metadata = await admin.fetchTopicMetadata({ topics: [...topics] });
  await admin.disconnect();
  const partitions = metadata.topics.map(({ name, partitions: all }) => {
    return { topic: name, partitions: all.map(({ partitionId }) => partitionId) };
  });
  const connections = new KafkaConnections({ clientId: 'test', logger: silentLogger });
  try {
    const largest = new Map<string, number>();
    for (const { host, port } of cluster.brokers) {
      for (const { name, bytes } of await connections.send({ host, port }, 'metadata', logSizesRequest(partitions))) {
        largest.set(name, Math.max(largest.get(name) ?? 0, bytes));
      }
    }
    return [...largest.values()].reduce((sum, bytes) => sum + bytes, 0);
  } finally {
    await connections.close();
  }
}

/** The folders in which the brokers, which run on this machine, keep a partition. */
export async function kafkaPartitionFolders(
  brokers: readonly string[],
  topic: string,
  partition: number,
): Promise<string[]> {
  const connections = new KafkaConnections({ clientId: 'test', logger: silentLogger });
  try {
    const folders = await Promise.all(
      brokers.map((broker) => {
        const [host = '', port] = broker.split(':');
        const request = logSizesRequest([{ topic, partitions: [partition] }]);
        return connections.send({ host, port: Number(port) }, 'metadata', request);
      }),
    );
    return folders.flat().map(({ folder }) => join(folder, `${topic}-${partition}`));
  } finally {
    await connections.close();
  }
}

interface LogSize {
  readonly folder: string;
  /** The topic and the number of the partition. */
  readonly name: string;
  readonly bytes: number;
}

/** DescribeLogDirs, version 1: the size of the files of partitions, on the broker that is asked. */
function logSizesRequest(
  wanted: readonly { readonly topic: string; readonly partitions: readonly number[] }[],
): KafkaRequest<LogSize[]> {
  return {
    name: 'DescribeLogDirs',
    apiKey: 35,
    apiVersion: 1,
    encode: () => {
      const writer = new WireWriter();
      return writer
        .array(wanted, ({ topic, partitions }) => {
          writer.string(topic).array(partitions, (partition) => writer.int32(partition));
        })
        .toBuffer();
    },
    decode: (response) => {
      const reader = new WireReader(response);
      reader.int32(); // throttle time
      const folders = reader.array(() => {
        reader.int16(); // error code
        const folder = reader.string();
        return reader.array(() => {
          const topic = reader.string();
          return reader.array(() => {
            const partition = reader.int32();
            const bytes = reader.int64();
            reader.int64(); // lag
            reader.boolean(); // whether it will replace another replica
            return { folder, name: `${topic}/${partition}`, bytes };
          });
        });
      });
      return folders.flat(2);
    },
  };
}
