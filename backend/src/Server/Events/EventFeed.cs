using System.Collections.Immutable;
using System.Text.Json;
using System.Threading.Channels;

namespace Sluice.Server.Events;

/// <summary>A live event; written as JSON with its type first, as in <c>job.step</c>.</summary>
internal abstract record LiveEvent
{
    public abstract string Type { get; }

    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("type", Type);
        WriteFields(json);
        json.WriteEndObject();
    }

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

    /// <summary>Tells all subscribers.</summary>
    public void Publish(LiveEvent happened)
    {
        foreach (var subscriber in _subscribers)
            subscriber.Writer.TryWrite(happened);
        foreach (var listener in _listeners)
            listener.Heard(happened);
    }

    /// <summary>
    /// Calls <paramref name="heard"/> for each event until disposal. Publishers call it on any thread, so it must not wait or take a lock that one
    /// may hold.
    /// </summary>
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
