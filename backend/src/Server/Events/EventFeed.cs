using System.Collections.Immutable;
using System.Text.Json;

namespace Sluice.Server.Events;

/// <summary>An event, delivered only to listeners watching when it happens.</summary>
internal abstract record LiveEvent
{
    public abstract string Type { get; }

    /// <summary>Writes the event as one JSON object, with its type first.</summary>
    public void Write(Utf8JsonWriter json)
    {
        json.WriteStartObject();
        json.WriteString("type", Type);
        WriteFields(json);
        json.WriteEndObject();
    }

    /// <summary>Writes the fields that follow the type.</summary>
    protected abstract void WriteFields(Utf8JsonWriter json);
}

/// <summary>Passes live events to listeners. Nothing is stored, so a change that must not be lost needs its own row. Thread-safe.</summary>
internal sealed class EventFeed
{
    // Replaced as a whole, so that publishing requires no lock.
    private ImmutableArray<Listener> _listeners = [];

    public void Publish(LiveEvent happened)
    {
        foreach (var listener in _listeners)
            listener.Heard(happened);
    }

    /// <summary>Calls a listener for every event until the returned registration is disposed.</summary>
    /// <param name="heard">Runs on the publisher's thread, so it must not block or take a lock that a publisher may hold.</param>
    public IDisposable Listen(Action<LiveEvent> heard)
    {
        var listener = new Listener(this, heard);
        ImmutableInterlocked.Update(ref _listeners, all => all.Add(listener));
        return listener;
    }

    private sealed class Listener(EventFeed feed, Action<LiveEvent> heard) : IDisposable
    {
        public Action<LiveEvent> Heard => heard;

        public void Dispose() => ImmutableInterlocked.Update(ref feed._listeners, all => all.Remove(this));
    }
}
