import { Kafka, logLevel } from 'kafkajs';

/** Moves the start of every partition of a Kafka topic to its end, as retention does in its own time. */
export async function deleteKafkaRecords(brokers: readonly string[], topic: string): Promise<void> {
  const admin = new Kafka({ brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const offsets = await admin.fetchTopicOffsets(topic);
    const partitions = offsets.map(({ partition, offset }) => ({ partition, offset }));
    await admin.deleteTopicRecords({ topic, partitions });
  } finally {
    await admin.disconnect();
  }
}
