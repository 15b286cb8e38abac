using System.Collections.Immutable;
using System.Text.Json;
using System.Threading.Channels;

namespace Sluice.Server.Events;

/// <summary>Something that has happened, for those who watch while it happens.</summary>
internal abstract record LiveEvent
{
    /// <summary>The kind of event, as in <c>job.step</c>.</summary>
    public abstract string Type { get; }

    /// <summary>Writes it as one JSON object, its type first.</summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("type", Type);
        WriteFields(json);
        json.WriteEndObject();
    }

    /// <summary>Writes the fields behind the type.</summary>
    protected abstract void WriteFields(Utf8JsonWriter json);
}

/// <summary>Hands live events to their subscribers. Nothing is kept: what must not be lost has a row of its own.</summary>
/// <remarks>Thread-safe. Publishing never waits; a subscriber that falls behind loses its oldest events.</remarks>
internal sealed class EventFeed
{
    /// <summary>Events that wait for a subscriber.</summary>
    public const int MaxWaiting = 1_000;

    // Changed as a whole, so that publishing takes no lock.
    private ImmutableArray<Channel<LiveEvent>> _subscribers = [];
    private ImmutableArray<Listener> _listeners = [];

    private long _sequence;

    /// <summary>
    /// How much has been published. What is read after asking for it holds everything that was told up to this number, because rows are told
    /// of when they are on disk.
    /// </summary>
    public long Sequence => Interlocked.Read(ref _sequence);

    /// <summary>Tells all subscribers.</summary>
    public void Publish(LiveEvent happened)
    {
        Interlocked.Increment(ref _sequence);
        foreach (var subscriber in _subscribers)
            subscriber.Writer.TryWrite(happened);
        foreach (var listener in _listeners)
            listener.Heard(happened);
    }

    /// <summary>Has each event noted as it is published, until what is returned is disposed of. Nothing is lost.</summary>
    /// <param name="heard">Called by the publisher, from any thread; never waits, and takes no lock that a publisher may hold.</param>
    public IDisposable Listen(Action<LiveEvent> heard)
    {
        var listener = new Listener(this, heard);
        ImmutableInterlocked.Update(ref _listeners, all => all.Add(listener));
        return listener;
    }

    /// <summary>Subscribes to what happens from now on, until the subscription is disposed of.</summary>
    public Subscription Subscribe()
    {
        var events = Channel.CreateBounded<LiveEvent>(
            new BoundedChannelOptions(MaxWaiting) { FullMode = BoundedChannelFullMode.DropOldest, SingleReader = true });
        ImmutableInterlocked.Update(ref _subscribers, all => all.Add(events));
        return new Subscription(this, events);
    }

    /// <summary>The events of one subscriber.</summary>
    internal sealed class Subscription(EventFeed feed, Channel<LiveEvent> events) : IDisposable
    {
        /// <summary>Events in the order in which they were published.</summary>
        public ChannelReader<LiveEvent> Events => events.Reader;

        /// <summary>Ends the subscription; events that wait can still be read.</summary>
        public void Dispose()
        {
            ImmutableInterlocked.Update(ref feed._subscribers, all => all.Remove(events));
            events.Writer.TryComplete();
        }
    }

    private sealed class Listener(EventFeed feed, Action<LiveEvent> heard) : IDisposable
    {
        public Action<LiveEvent> Heard => heard;

        public void Dispose() => ImmutableInterlocked.Update(ref feed._listeners, all => all.Remove(this));
    }
}
