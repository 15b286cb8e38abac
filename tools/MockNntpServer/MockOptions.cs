using System.Net;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Faults;

namespace Sluice.Tools.MockNntpServer;

/// <summary>Startup options of a mock. Immutable.</summary>
public sealed record MockOptions
{
    /// <summary>The providers, each with its own listener.</summary>
    public IReadOnlyList<MockProvider> Providers { get; init; } = [new MockProvider()];

    /// <summary>Seed of jitter and of the placement of faults and coverage. Content has its own seed in the message-ids.</summary>
    public ulong Seed { get; init; } = 1;

    /// <summary>Faults of all providers or of a numbered one, in addition to <see cref="MockProvider.Faults"/>.</summary>
    public IReadOnlyList<MockFault> Faults { get; init; } = [];

    /// <summary>Articles missing on all providers.</summary>
    public ArticleSelection Missing { get; init; } = ArticleSelection.None;

    /// <summary>Articles with the same wrong byte on all providers.</summary>
    public ArticleSelection Corrupt { get; init; } = ArticleSelection.None;

    /// <summary>Real files to serve, in the order of the release that uses them.</summary>
    public IReadOnlyList<MediaContent> Media { get; init; } = [];

    /// <summary>Releases whose content the mock must know, such as archives. Each needs its own seed, because the seed identifies it.</summary>
    public IReadOnlyList<MockRelease> Releases { get; init; } = [];

    /// <summary>Folder of raw articles as posted, including subfolders; null for none.</summary>
    public string? Spool { get; init; }

    /// <summary>Maximum bytes of cached encoded articles.</summary>
    public long CacheBytes { get; init; } = 512L << 20;

    /// <summary>Creates the release of a seed requested over the control port; null if not supported.</summary>
    public Func<ulong, MockRelease>? Release { get; init; }

    /// <summary>Address of all listeners except the control port.</summary>
    public IPAddress Bind { get; init; } = IPAddress.Loopback;

    /// <summary>HTTP control port, always on loopback; 0 for a free port, null for none.</summary>
    public int? ControlPort { get; init; }

    public TimeProvider Time { get; init; } = TimeProvider.System;
}
