import java.math.BigDecimal;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import lendstream.ApiClient;
import lendstream.ApiException;
import lendstream.api.EventTypesApi;
import lendstream.api.LoanProductsApi;
import lendstream.api.LoansApi;
import lendstream.api.PublishingApi;
import lendstream.api.StreamsApi;
import lendstream.api.SubscriptionsApi;
import lendstream.model.Commit;
import lendstream.model.CommitItemsInner;
import lendstream.model.CreateLoanPayload;
import lendstream.model.CreateLoanPayloadScheduleSettings;
import lendstream.model.EventTypeDefinition;
import lendstream.model.EventTypeDefinitionSchema;
import lendstream.model.EventsInner;
import lendstream.model.EventsInnerMetadata;
import lendstream.model.LoanProductPayload;
import lendstream.model.LoanProductPayloadCurrency;
import lendstream.model.Problem;
import lendstream.model.PublishedItemsInner;
import lendstream.model.StreamBatch;
import lendstream.model.SubscriptionDefinition;

/** Publishes two events, consumes them, and opens a loan, with a client made by OpenAPI Generator. */
public final class MainFlow {
  private static final String EVENT_TYPE = "java.order-placed";

  public static void main(String[] arguments) throws Exception {
    String url = System.getenv().getOrDefault("LENDSTREAM_URL", "http://127.0.0.1:8080");
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);

    EventTypesApi eventTypes = new EventTypesApi(client);
    String schema = "{\"properties\": {\"order\": {\"type\": \"string\"}}, \"required\": [\"order\"]}";
    EventTypeDefinition definition = new EventTypeDefinition()
        .name(EVENT_TYPE)
        .owningApplication("java")
        .category(EventTypeDefinition.CategoryEnum.BUSINESS)
        .addEnrichmentStrategiesItem(EventTypeDefinition.EnrichmentStrategiesEnum.METADATA_ENRICHMENT)
        .schema(new EventTypeDefinitionSchema().type(EventTypeDefinitionSchema.TypeEnum.JSON_SCHEMA).schema(schema));
    System.out.println("event type: " + eventTypes.createEventTypeWithHttpInfo(definition, null).getStatusCode());
    try {
      eventTypes.createEventType(definition, null);
    } catch (ApiException refused) {
      Problem problem = client.getObjectMapper().readValue(refused.getResponseBody(), Problem.class);
      System.out.println("again: " + problem.getStatus() + " " + problem.getCode());
    }

    PublishingApi publishing = new PublishingApi(client);
    List<EventsInner> events = List.of(newEvent("order", "A-1"), newEvent("order", "A-2"));
    var published = publishing.publishEventsWithHttpInfo(EVENT_TYPE, events, null, null, null);
    System.out.println("published: " + published.getStatusCode());
    try {
      publishing.publishEvents(EVENT_TYPE, List.of(newEvent("other", "A-3")), null, null, null);
    } catch (ApiException refused) {
      var items = client.getObjectMapper().readValue(refused.getResponseBody(), PublishedItemsInner[].class);
      System.out.println("refused: " + items[0].getPublishingStatus() + " " + items[0].getDetail());
    }

    SubscriptionsApi subscriptions = new SubscriptionsApi(client);
    UUID id = subscriptions.createSubscription(new SubscriptionDefinition()
        .owningApplication("java")
        .addEventTypesItem(EVENT_TYPE)
        .readFrom(SubscriptionDefinition.ReadFromEnum.BEGIN), null).getId();
    consume(client, URI.create(url + "/subscriptions/" + id + "/events?batch_limit=2&stream_timeout=30"), id);
    var statistics = subscriptions.getSubscriptionStatistics(id, true);
    System.out.println("lag: " + statistics.getItems().get(0).getPartitions().get(0).getUnconsumedEvents());

    LoanProductPayload product = new LoanProductPayload()
        .id("java")
        .name("Four months")
        .type(LoanProductPayload.TypeEnum.FIXED_TERM_LOAN)
        .currency(new LoanProductPayloadCurrency().code("EUR"));
    var made = new LoanProductsApi(client).createLoanProductWithHttpInfo(product, null, null, null);
    System.out.println("product: " + made.getStatusCode());
    LoansApi loans = new LoansApi(client);
    CreateLoanPayload loan = new CreateLoanPayload()
        .id("java-1")
        .productTypeKey("java")
        .loanAmount(new BigDecimal("1000.50"))
        .scheduleSettings(new CreateLoanPayloadScheduleSettings()
            .repaymentInstallments(4)
            .repaymentPeriodCount(1)
            .repaymentPeriodUnit(CreateLoanPayloadScheduleSettings.RepaymentPeriodUnitEnum.MONTHS));
    System.out.println("opened: " + loans.createLoanWithHttpInfo(loan, "open-java-1", null, null).getStatusCode());
    var account = loans.getLoan("java-1", null);
    System.out.println("loan: " + account.getAccountState() + " " + account.getLoanAmount());
  }

  /** A generated call returns when its response has ended, so the lines of a stream are read without it. */
  private static void consume(ApiClient client, URI stream, UUID id) throws Exception {
    var response = client.getHttpClient().send(HttpRequest.newBuilder(stream).build(), BodyHandlers.ofLines());
    String streamId = response.headers().firstValue("X-Nakadi-StreamId").orElseThrow();
    try (var lines = response.body()) {
      for (String line : (Iterable<String>) lines::iterator) {
        StreamBatch batch = client.getObjectMapper().readValue(line, StreamBatch.class);
        if (batch.getEvents() == null) continue;
        var orders = batch.getEvents().stream().map((event) -> (String) ((Map<?, ?>) event).get("order")).toList();
        System.out.println("received: " + String.join(" ", orders));
        var cursor = batch.getCursor();
        Commit commit = new Commit().addItemsItem(new CommitItemsInner()
            .eventType(cursor.getEventType())
            .partition(cursor.getPartition())
            .offset(cursor.getOffset())
            .cursorToken(cursor.getCursorToken()));
        var committed = new StreamsApi(client).commitCursorsWithHttpInfo(streamId, id, commit, null);
        System.out.println("committed: " + committed.getStatusCode());
        return;
      }
    }
  }

  private static EventsInner newEvent(String field, String value) {
    EventsInnerMetadata metadata = new EventsInnerMetadata().eid(UUID.randomUUID()).occurredAt(OffsetDateTime.now());
    return new EventsInner().metadata(metadata).putAdditionalProperty(field, value);
  }
}
