using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>The options of a run. Immutable; checked by <see cref="OptionsReader"/>.</summary>
internal sealed record TesterOptions
{
    /// <summary>The command line for the record, without anything secret.</summary>
    public IReadOnlyList<string> Args { get; init; } = [];

    /// <summary>The NZB to test, or null for a release of the mock's making.</summary>
    public string? NzbFile { get; init; }

    /// <summary>The mock to start, or null when the providers are real.</summary>
    public MockFlags? Mock { get; init; }

    /// <summary>The providers where there is no mock.</summary>
    public IReadOnlyList<ProviderOptions> Providers { get; init; } = [];

    /// <summary>The running server that is measured, or null for the engine in this process.</summary>
    public ServerFlags? Server { get; init; }

    /// <summary>The kind of subject, in one word.</summary>
    public string Mode => Server is null ? "engine" : "server";

    /// <summary>Connections of each mock provider.</summary>
    public int Connections { get; init; } = 20;

    /// <summary>Commands outstanding per connection; null adapts.</summary>
    public int? Pipelining { get; init; }

    /// <summary>Bytes that all streams may hold; null for the product's default.</summary>
    public long? ByteBudget { get; init; }

    /// <summary>Bytes that one stream may hold; null for the product's default.</summary>
    public long? ReadAhead { get; init; }

    /// <summary>Passwords of archives beside those that the NZB names. Never shown.</summary>
    public IReadOnlyList<string> Passwords { get; init; } = [];

    /// <summary>Reads archive volumes as one flat file instead of mapping them.</summary>
    public bool SkipArchives { get; init; }

    /// <summary>Holds the landing segment back until it is proved.</summary>
    public bool VerifyBeforeServe { get; init; }

    /// <summary>The steps to run and report.</summary>
    public IReadOnlySet<int> Steps { get; init; } = Enumerable.Range(1, 7).ToHashSet();

    /// <summary>Most bytes read in step 7.</summary>
    public long Limit { get; init; } = 200L << 20;

    /// <summary>Seeks to places by lot beside the fixed points, each read for 64 KiB.</summary>
    public int Seeks { get; init; } = 20;

    /// <summary>How often everything is repeated.</summary>
    public int Runs { get; init; } = 1;

    /// <summary>Whether the raw ceiling is measured.</summary>
    public bool Ceiling { get; init; }

    /// <summary>Readers that play at a rate, or null for none.</summary>
    public PlaybackFlags? Playback { get; init; }

    /// <summary>Readers that seek at a rate, or null for none.</summary>
    public StormFlags? Storm { get; init; }

    /// <summary>Readers that do everything for a long time, or null for none.</summary>
    public SoakFlags? Soak { get; init; }

    /// <summary>Where the JSON goes: a file, <c>-</c> for stdout, or null.</summary>
    public string? JsonFile { get; init; }

    /// <summary>An earlier JSON to compare with, or null.</summary>
    public string? CompareFile { get; init; }

    /// <summary>Per cent that a figure may be worse than there.</summary>
    public double TolerancePercent { get; init; } = 10;

    /// <summary>Folder that takes the NZB and the mock's last counters, or null.</summary>
    public string? KeepFolder { get; init; }

    /// <summary>Prints nothing but the summary.</summary>
    public bool Quiet { get; init; }

    /// <summary>Never prints colour.</summary>
    public bool NoColor { get; init; }

    /// <summary>Limit of the run, the time of a soak aside.</summary>
    public TimeSpan Timeout { get; init; } = TimeSpan.FromSeconds(600);

    /// <summary>When the run is ended.</summary>
    public TimeSpan TimeLimit => Timeout + (Soak?.Duration ?? TimeSpan.Zero);

    /// <summary>Seed of content, jitter and faults.</summary>
    public ulong Seed { get; init; } = 1;
}

/// <summary>How readers play.</summary>
/// <param name="BytesPerSecond">Rate of each; 0: as fast as it can.</param>
/// <param name="Readers">How many.</param>
/// <param name="Duration">How long.</param>
/// <param name="SameFile">All on one file, or each on its own.</param>
/// <param name="Once">Ends at the end of the file; else it begins again while there is time.</param>
/// <param name="Imports">Releases that a server is given to import as they begin.</param>
internal sealed record PlaybackFlags(long BytesPerSecond, int Readers, TimeSpan Duration, bool SameFile, bool Once, int Imports);

/// <summary>How readers search.</summary>
/// <param name="PerSecond">Seeks per second of all together.</param>
/// <param name="Readers">How many, each in its own file.</param>
/// <param name="Duration">How long.</param>
internal sealed record StormFlags(double PerSecond, int Readers, TimeSpan Duration);

/// <summary>How readers soak.</summary>
/// <param name="Duration">How long.</param>
/// <param name="Readers">How many.</param>
/// <param name="BytesPerSecond">Rate of each; 0: as fast as it can.</param>
internal sealed record SoakFlags(TimeSpan Duration, int Readers, long BytesPerSecond);

/// <summary>A running server of the family.</summary>
/// <param name="Url">Where it is, URL base included, with a slash at the end.</param>
/// <param name="ApiKey">Key of its SABnzbd API.</param>
/// <param name="User">User of its WebDAV tree.</param>
/// <param name="Password">The user's password.</param>
/// <param name="Pid">Its process on this machine, or null where it is elsewhere.</param>
/// <param name="Category">Category that the release is added to; null for the server's own choice.</param>
internal sealed record ServerFlags(Uri Url, string ApiKey, string User, string Password, int? Pid, string? Category);

/// <summary>The release that the mock makes, and what it is told on its command line.</summary>
internal sealed record MockFlags
{
    /// <summary>Payload in bytes.</summary>
    public long Size { get; init; } = 200L << 20;

    /// <summary>Files of the release.</summary>
    public int Files { get; init; } = 1;

    /// <summary>Name of the layout.</summary>
    public string Layout { get; init; } = "plain";

    /// <summary>Volumes of each set; null for as many as the layout usually has.</summary>
    public int? Volumes { get; init; }

    /// <summary>Recovery blocks of a PAR2 set; null for none.</summary>
    public int? Par2 { get; init; }

    /// <summary>Password of encrypted layouts; null for the usual one.</summary>
    public string? Password { get; init; }

    /// <summary>The release of archives that the flags describe; null for plain files.</summary>
    public LayoutRecipe? Recipe => LayoutRecipe.Names.Contains(Layout)
        ? new LayoutRecipe { Layout = Layout, Size = Size, Files = Files, Volumes = Volumes, Par2 = Par2, Password = Password, Obfuscates = Obfuscate }
        : null;

    /// <summary>Decoded bytes per article.</summary>
    public int ArticleSize { get; init; } = 716_800;

    /// <summary>Posts under random names.</summary>
    public bool Obfuscate { get; init; }

    /// <summary>Real file whose bytes are served, or null.</summary>
    public string? Media { get; init; }

    /// <summary>Providers.</summary>
    public int Providers { get; init; } = 1;

    /// <summary>Speaks TLS.</summary>
    public bool Tls { get; init; }

    /// <summary>Whether the flags make some articles unavailable or damaged everywhere, so that reads may end at a hole.</summary>
    public bool MakesHoles { get; init; }

    /// <summary>Round trip and its spread as given, in ms.</summary>
    public (string Latency, string Jitter) Line { get; init; } = ("50", "10");

    /// <summary>Before this no provider answers, by round trip and spread.</summary>
    public TimeSpan SoonestAnswer { get; init; }

    /// <summary>Flags that are handed to the mock as they are, without those of the release.</summary>
    public IReadOnlyList<string> PassedOn { get; init; } = [];
}
