import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.apache.kafka.common.compress.Compression;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.common.record.internal.ControlRecordType;
import org.apache.kafka.common.record.internal.DefaultRecordBatch;
import org.apache.kafka.common.record.internal.EndTransactionMarker;
import org.apache.kafka.common.record.internal.MemoryRecords;
import org.apache.kafka.common.record.internal.MemoryRecords.RecordFilter;
import org.apache.kafka.common.record.internal.MemoryRecordsBuilder;
import org.apache.kafka.common.record.internal.MutableRecordBatch;
import org.apache.kafka.common.record.internal.Record;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.common.utils.BufferSupplier;

/**
 * Writes vectors.json: record batches as Kafka's own Java client encodes them, each beside what that client reads from
 * them. See write-vectors for how to run it.
 */
public class WriteVectors {
  private static final long NOW = 1_700_000_000_123L;
  private static final Header[] NO_HEADERS = {};
  private static final Header[] MARKER = {new RecordHeader("ls", (byte[]) null)};

  private static final List<String> vectors = new ArrayList<>();

  public static void main(String[] arguments) throws Exception {
    ours();
    shapes();
    compressed();
    transactions();
    compacted();
    String json = "[" + String.join(",\n", vectors) + "]\n";
    Files.writeString(Path.of(arguments[0]), json);
  }

  /** What the product writes itself: compared byte for byte with its own encoder. */
  private static void ours() {
    vector("ours: plain", batch(0, b -> {
      add(b, 0, "account-1", "{\"amount\":1}", MARKER);
      add(b, 1, null, "{\"amount\":2}", MARKER);
      add(b, 2, "account-3", null, MARKER);
      add(b, 3, "", "", MARKER);
      add(b, 4, "Zürich 𝄞 東京", "{\"name\":\"Ærø 🏦\"}", MARKER);
    }));
    vector("ours: one record", batch(0, b -> add(b, 0, null, "1", MARKER)));
    vector("ours: lengths around the ends of varints", batch(0, b -> {
      int at = 0;
      for (int length : new int[] {0, 1, 62, 63, 64, 65, 127, 128, 8_191, 8_192}) {
        add(b, at++, "k".repeat(Math.min(length, 200)), "v".repeat(length), MARKER);
      }
    }));
    vector("ours: more records than fit a one-byte delta", batch(0, b -> {
      for (int at = 0; at < 200; at += 1) add(b, at, "k" + at, "" + at, MARKER);
    }));
    vector("ours: idempotent", build(Compression.NONE, 0, 4_001, 3, 77, false, b -> {
      add(b, 0, "a", "1", MARKER);
      add(b, 1, "b", "2", MARKER);
    }));
    vector("ours: transactional", build(Compression.NONE, 0, 9_007_199_254_740_993L, 32_767, 2_147_483_646, true, b -> {
      add(b, 0, "a", "1", MARKER);
      add(b, 1, "b", "2", MARKER);
    }));
  }

  private static void shapes() {
    vector("headers of somebody else, and of ours", batch(500, b -> {
      add(b, 500, "k", "none", NO_HEADERS);
      add(b, 501, "k", "ours", MARKER);
      add(b, 502, "k", "traced", new RecordHeader("traceparent", bytes("00-4bf92f")));
      add(b, 503, "k", "ours and traced", MARKER[0], new RecordHeader("traceparent", bytes("00-4bf92f")));
      add(b, 504, "k", "our name, another value", new RecordHeader("ls", bytes("x")));
      add(b, 505, "k", "our name, empty value", new RecordHeader("ls", new byte[0]));
      add(b, 506, "k", "a name as long", new RecordHeader("sl", (byte[]) null));
      add(b, 507, "k", null, NO_HEADERS);
      add(b, 508, "k", "ends as ours do \u0002\u0004ls\u0001", NO_HEADERS);
    }));
    vector("a key of four zero bytes is an ordinary record", batch(9, b -> add(b, 9, "\0\0\0\0", "visible", MARKER)));
    vector("bytes that are no text", batch(9, b -> {
      b.appendWithOffset(9, NOW, new byte[] {(byte) 0xff, (byte) 0xfe}, new byte[] {0, (byte) 0x80, (byte) 0xff}, NO_HEADERS);
    }));
    vector("offsets with holes, timestamps that go both ways", batch(1_000, b -> {
      b.appendWithOffset(1_000, NOW, bytes("a"), bytes("1"), NO_HEADERS);
      b.appendWithOffset(1_003, NOW - 86_400_000L * 400, bytes("b"), bytes("2"), NO_HEADERS);
      b.appendWithOffset(1_000_000, NOW + 5, bytes("c"), bytes("3"), MARKER);
      b.appendWithOffset(2_147_484_000L, 1, bytes("d"), bytes("4"), NO_HEADERS);
    }));
    vector("offsets beyond 32 bits", batch(4_503_599_627_370_000L, b -> {
      add(b, 4_503_599_627_370_000L, "a", "1", MARKER);
      add(b, 4_503_599_627_370_001L, "b", "2", MARKER);
    }));
    ByteBuffer three = ByteBuffer.allocate(10_000);
    for (long base : new long[] {10, 20, 30}) {
      three.put(batch(base, b -> {
        add(b, base, "k", "at " + base, MARKER);
        add(b, base + 1, "k", "at " + (base + 1), MARKER);
      }));
    }
    vector("three batches", three.flip());
    MemoryRecordsBuilder stamped = new MemoryRecordsBuilder(ByteBuffer.allocate(1_000), RecordBatch.MAGIC_VALUE_V2,
        Compression.NONE, TimestampType.LOG_APPEND_TIME, 7, NOW + 42, -1, (short) -1, -1, false, false, 5, 1_000);
    stamped.appendWithOffset(7, NOW - 1_000, bytes("k"), bytes("stamped by the broker"), NO_HEADERS);
    vector("log append time", stamped.build().buffer());
  }

  private static void compressed() {
    Consumer<MemoryRecordsBuilder> some = b -> {
      for (int at = 0; at < 40; at += 1) add(b, 100 + at, at % 3 == 0 ? null : "k" + at, "{\"number\":" + at + "}", NO_HEADERS);
    };
    vector("gzip", build(Compression.gzip().build(), 100, -1, -1, -1, false, some));
    vector("snappy", build(Compression.snappy().build(), 100, -1, -1, -1, false, some));
    vector("lz4", build(Compression.lz4().build(), 100, -1, -1, -1, false, some));
    vector("zstd", build(Compression.zstd().build(), 100, -1, -1, -1, false, some));
  }

  /** Three producers whose transactions overlap; the values say what became of them. */
  private static void transactions() {
    vector("commit marker", marker(50, 7, ControlRecordType.COMMIT));
    vector("abort marker", marker(50, 7, ControlRecordType.ABORT));
    ByteBuffer log = ByteBuffer.allocate(10_000);
    log.put(transactional(0, 1, "committed a", "committed b"));
    log.put(transactional(2, 2, "aborted c"));
    log.put(batch(3, b -> add(b, 3, "\0\0\0\0", "without transaction d", MARKER)));
    log.put(marker(4, 1, ControlRecordType.COMMIT));
    log.put(transactional(5, 1, "aborted e"));
    log.put(transactional(6, 3, "committed f"));
    log.put(transactional(7, 2, "aborted g", "aborted h"));
    log.put(marker(9, 2, ControlRecordType.ABORT));
    log.put(transactional(10, 2, "committed i"));
    log.put(transactional(11, 1, "aborted j"));
    log.put(marker(12, 3, ControlRecordType.COMMIT));
    log.put(marker(13, 1, ControlRecordType.ABORT));
    log.put(marker(14, 2, ControlRecordType.COMMIT));
    log.put(transactional(15, 3, "aborted k"));
    log.put(transactional(16, 1, "committed l"));
    log.put(marker(17, 3, ControlRecordType.ABORT));
    log.put(marker(18, 1, ControlRecordType.COMMIT));
    vector("overlapping transactions", log.flip());
  }

  /** What the broker's log cleaner leaves, with the code by which it does so. */
  private static void compacted() {
    ByteBuffer log = ByteBuffer.allocate(10_000);
    for (long base : new long[] {0, 10, 20}) {
      log.put(build(Compression.NONE, base, 5, 0, (int) base, false, b -> {
        for (long offset = base; offset < base + 10; offset += 1) {
          add(b, offset, "k" + offset, offset % 4 == 0 ? null : "v" + offset, MARKER);
        }
      }));
    }
    MemoryRecords records = MemoryRecords.readableRecords(log.flip());
    ByteBuffer cleaned = ByteBuffer.allocate(10_000);
    records.filterTo(new RecordFilter(NOW, 60_000) {
      @Override
      protected BatchRetentionResult checkBatchRetention(RecordBatch batch) {
        return new BatchRetentionResult(BatchRetention.RETAIN_EMPTY, false);
      }

      @Override
      protected boolean shouldRetainRecord(RecordBatch batch, Record record) {
        return batch.baseOffset() != 10 && record.offset() % 10 >= 3 && record.offset() % 10 <= 6;
      }
    }, cleaned, BufferSupplier.NO_CACHING);
    vector("compacted: holes, an empty batch, a delete horizon", cleaned.flip());
    ByteBuffer empty = ByteBuffer.allocate(DefaultRecordBatch.RECORD_BATCH_OVERHEAD);
    DefaultRecordBatch.writeEmptyHeader(empty, RecordBatch.MAGIC_VALUE_V2, 5, (short) 0, 9, 300, 309, 2,
        TimestampType.CREATE_TIME, NOW, false, false);
    vector("an empty batch alone", empty.flip());
  }

  private static ByteBuffer batch(long base, Consumer<MemoryRecordsBuilder> fill) {
    return build(Compression.NONE, base, -1, -1, -1, false, fill);
  }

  private static ByteBuffer transactional(long base, long producer, String... values) {
    return build(Compression.NONE, base, producer, 0, (int) base, true, b -> {
      for (int at = 0; at < values.length; at += 1) add(b, base + at, "k", values[at], MARKER);
    });
  }

  private static ByteBuffer marker(long offset, long producer, ControlRecordType type) {
    return MemoryRecords.withEndTransactionMarker(offset, NOW, 3, producer, (short) 0, new EndTransactionMarker(type, 1))
        .buffer();
  }

  private static ByteBuffer build(Compression compression, long base, long producer, int epoch, int sequence,
      boolean isTransactional, Consumer<MemoryRecordsBuilder> fill) {
    MemoryRecordsBuilder builder = MemoryRecords.builder(ByteBuffer.allocate(65_536), RecordBatch.MAGIC_VALUE_V2,
        compression, TimestampType.CREATE_TIME, base, RecordBatch.NO_TIMESTAMP, producer, (short) epoch, sequence,
        isTransactional, RecordBatch.NO_PARTITION_LEADER_EPOCH);
    fill.accept(builder);
    return builder.build().buffer();
  }

  private static void add(MemoryRecordsBuilder builder, long offset, String key, String value, Header... headers) {
    builder.appendWithOffset(offset, NOW, key == null ? null : bytes(key), value == null ? null : bytes(value), headers);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(StandardCharsets.UTF_8);
  }

  /** Adds a vector: the bytes, and the batches and records that the Java client finds in them. */
  private static void vector(String name, ByteBuffer encoded) {
    byte[] all = new byte[encoded.remaining()];
    encoded.duplicate().get(all);
    List<String> batches = new ArrayList<>();
    for (MutableRecordBatch batch : MemoryRecords.readableRecords(ByteBuffer.wrap(all)).batches()) {
      batch.ensureValid();
      List<String> records = new ArrayList<>();
      for (Record record : batch) records.add(describe(record));
      batches.add(String.format("{\"baseOffset\":%d,\"lastOffset\":%d,\"maxTimestamp\":%d,\"producerId\":\"%d\","
          + "\"producerEpoch\":%d,\"baseSequence\":%d,\"isTransactional\":%b,\"isControl\":%b,\"compression\":\"%s\","
          + "\"hasDeleteHorizon\":%b,\"records\":[%s]}", batch.baseOffset(), batch.lastOffset(), batch.maxTimestamp(),
          batch.producerId(), batch.producerEpoch(), batch.baseSequence(), batch.isTransactional(),
          batch.isControlBatch(), batch.compressionType().name, batch.deleteHorizonMs().isPresent(),
          String.join(",", records)));
    }
    vectors.add(String.format("{\"name\":%s,\"bytes\":%s,\"batches\":[%s]}", quote(name), base64(ByteBuffer.wrap(all)),
        String.join(",", batches)));
  }

  private static String describe(Record record) {
    List<String> headers = new ArrayList<>();
    for (Header header : record.headers()) {
      headers.add("[" + quote(header.key()) + "," + base64(header.value() == null ? null : ByteBuffer.wrap(header.value())) + "]");
    }
    return String.format("{\"offset\":%d,\"key\":%s,\"value\":%s,\"headers\":[%s]}", record.offset(),
        base64(record.key()), base64(record.value()), headers.stream().collect(Collectors.joining(",")));
  }

  private static String quote(String text) {
    return "\"" + text + "\"";
  }

  private static String base64(ByteBuffer bytes) {
    if (bytes == null) return "null";
    byte[] copy = new byte[bytes.remaining()];
    bytes.duplicate().get(copy);
    return quote(Base64.getEncoder().encodeToString(copy));
  }
}
