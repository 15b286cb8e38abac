using System.Threading.Channels;
using Sluice.Server.Events;

namespace Sluice.Server.Tests;

/// <summary>All events from construction to disposal, in the order of publishing.</summary>
internal sealed class WatchedEvents : IDisposable
{
    private readonly Channel<LiveEvent> _events = Channel.CreateUnbounded<LiveEvent>();
    private readonly IDisposable _listening;

    public WatchedEvents(EventFeed feed) => _listening = feed.Listen(happened => _events.Writer.TryWrite(happened));

    /// <summary>Disposing completes the reader. Events received before can still be read.</summary>
    public ChannelReader<LiveEvent> Events => _events.Reader;

    public void Dispose()
    {
        _listening.Dispose();
        _events.Writer.TryComplete();
    }
}

internal static class EventFeedWatching
{
    public static WatchedEvents Subscribe(this EventFeed feed) => new(feed);
}
