using System.Threading.Channels;
using Sluice.Server.Events;

namespace Sluice.Server.Tests;

/// <summary>The events from its making to its dispose, in the order in which they were published.</summary>
internal sealed class WatchedEvents : IDisposable
{
    private readonly Channel<LiveEvent> _events = Channel.CreateUnbounded<LiveEvent>();
    private readonly IDisposable _listening;

    public WatchedEvents(EventFeed feed) => _listening = feed.Listen(happened => _events.Writer.TryWrite(happened));

    /// <summary>Ends with the dispose; events that wait can still be read.</summary>
    public ChannelReader<LiveEvent> Events => _events.Reader;

    public void Dispose()
    {
        _listening.Dispose();
        _events.Writer.TryComplete();
    }
}

/// <summary>Watches a feed.</summary>
internal static class EventFeedWatching
{
    public static WatchedEvents Subscribe(this EventFeed feed) => new(feed);
}
