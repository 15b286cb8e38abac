using Sluice.Server.Database;
using Sluice.Server.Events;

namespace Sluice.Server.Library;

/// <summary>Releases have come, gone or changed, each named by its folder below <c>/content</c>, as in <c>movies/Some.Release</c>.</summary>
internal sealed record ReleasesChanged(IReadOnlyList<string>? Changed, IReadOnlyList<string>? Removed) : RowsEvent(Changed, Removed)
{
    /// <inheritdoc/>
    public override string Type => "library.changed";

    /// <summary>The table of releases, whose changes become such events.</summary>
    public static WatchedTable Watch(EventFeed feed) =>
        new("release", ["category", "name"], (changed, removed) => feed.Publish(new ReleasesChanged(Limit(changed), Limit(removed))));
}
