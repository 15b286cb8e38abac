using System.CommandLine;

namespace Sluice.Tools.FullNzbTester.Cli;

internal sealed class TesterFlags
{
    public readonly Argument<string?> Nzb = new("nzb") { Arity = ArgumentArity.ZeroOrOne, Description = "The NZB to test" };
    public readonly Option<bool> MockServer = Switch("--mock-server", "Start MockNntpServer as a child process and post a synthetic release on it");
    public readonly Option<int> MockPort = With("--mock-port", 0, "Port of the mock; 0 takes a free one");
    public readonly Option<string> Latency = With("--latency", "50", "Round trip of the mock in ms");
    public readonly Option<string> Jitter = With("--jitter", "10", "Uniform spread around it in ms");
    public readonly Option<bool> SerialLatency = Switch("--serial-latency", "Let commands wait one after the other, as the ancestor's mock did");
    public readonly Option<int> Size = With("--size", 200, "Payload in MiB");
    public readonly Option<int> Connections = With("--connections", 20, "Connections of the (first) provider");
    public readonly Option<string?> Stall = Text("--stall", "Share of BODY answers that pause in mid-body and then close");
    public readonly Option<string?> StallSeconds = Text("--stall-seconds", "Length of such a pause (10)");
    public readonly Option<string?> NoticeMs = Text("--notice-ms", "How long the mock counts a socket that was closed in the midst of an answer; \"end\": until that ends (0)");
    public readonly Option<long> Seed = With("--seed", 1L, "Seed of content, jitter and faults");
    public readonly Option<string?> Missing = Text("--missing", "Share of articles answered 430 everywhere (0.01), or numbers (17,200-203)");
    public readonly Option<string?> Corrupt = Text("--corrupt", "Articles with wrong bytes under an unchanged CRC, likewise");
    public readonly Option<string> Layout = With("--layout", "plain", "plain, pack (many files), split, rar4, rar4-enc, rar5, rar5-enc, rar5-hdrenc, 7z, 7z-enc, zip, tar, nested");
    public readonly Option<int?> Volumes = new("--volumes") { Description = "Volumes of each archive set (20; zip: 1)" };
    public readonly Option<int?> Par2 = new("--par2") { Description = "Recovery blocks of a PAR2 set that is posted with them" };
    public readonly Option<string?> Password = Text("--password", "Password of an encrypted layout, or of the archives in a real NZB");
    public readonly Option<bool> SkipRarParsing = Switch("--skip-rar-parsing", "Read archive volumes as one flat file");
    public readonly Option<int?> Files = new("--files") { Description = "Files of the release, of archives each in a set of its own (1; pack: 100)" };
    public readonly Option<bool> Obfuscate = Switch("--obfuscate", "Post under random names");
    public readonly Option<int> ArticleSize = With("--article-size", 716_800, "Decoded bytes per article");
    public readonly Option<int> Providers = With("--providers", 1, "Mock providers");
    public readonly Option<string?> Coverage = Text("--coverage", "Share of the articles that each of them holds (1.0,0.9)");
    public readonly Option<string?> Bandwidth = Text("--bandwidth", "Mbit/s of a provider in all");
    public readonly Option<string?> BandwidthConnection = Text("--bandwidth-conn", "Mbit/s of each connection");
    public readonly Option<string?> Piece = Text("--piece", "Most bytes that the mock sends at a time");
    public readonly Option<int?> MaxConnections = new("--max-conns") { Description = "Hard cap of the mock (2 x connections)" };
    public readonly Option<bool> Tls = Switch("--tls", "The mock speaks TLS");
    public readonly Option<string?> Faults = Text("--faults", "Fault script for the mock");
    public readonly Option<string?> Media = Text("--media", "Serve the bytes of this file");
    public readonly Option<string?> Host = Text("--host", "A real provider");
    public readonly Option<int?> Port = new("--port") { Description = "Its port (563 with TLS, 119 without)" };
    public readonly Option<string?> User = Text("--user", "Username there");
    public readonly Option<string?> PassEnv = Text("--pass-env", "Variable that holds the password");
    public readonly Option<bool> Ssl = new("--ssl") { Description = "TLS from the first byte (true)", DefaultValueFactory = _ => true };
    public readonly Option<bool> SkipTlsVerify = Switch("--skip-tls-verify", "Accept any certificate");
    public readonly Option<string?> ProvidersFile = Text("--providers-file", "JSON of usenet.providers");
    public readonly Option<string?> Provider = Text("--provider", "Only the one of this nickname");
    public readonly Option<int?> Pipelining = new("--pipelining") { Description = "Commands outstanding per connection (adapts)" };
    public readonly Option<int?> ByteBudget = new("--byte-budget") { Description = "MiB that all streams may hold" };
    public readonly Option<int?> ReadAhead = new("--read-ahead") { Description = "MiB that one stream may hold" };
    public readonly Option<bool> VerifyBeforeServe = Switch("--verify-before-serve", "Hold the landing segment back until it is proved");
    public readonly Option<string> Steps = With("--steps", "1-7", "Steps to run");
    public readonly Option<int> Limit = With("--limit", 200, "Most MiB read sequentially");
    public readonly Option<int> Seeks = With("--seeks", 20, "Seeks to places by lot beside the fixed points, each for 64 KiB");
    public readonly Option<int> Runs = With("--runs", 1, "Repeat everything; medians and spread");
    public readonly Option<bool> Ceiling = Switch("--ceiling", "Measure the raw ceiling (on with the mock)");
    public readonly Option<bool> NoCeiling = Switch("--no-ceiling", "Do not");
    public readonly Option<double?> Playback = new("--playback") { Description = "Readers at this rate in Mbit/s; 0: as fast as they can" };
    public readonly Option<int?> Readers = new("--readers") { Description = "How many of them (1; with --storm 4, with --soak 32)" };
    public readonly Option<double> PlaybackSeconds = With("--playback-seconds", 10d, "How long they play");
    public readonly Option<bool> SameFile = Switch("--same-file", "All on one file");
    public readonly Option<int?> Imports = new("--imports") { Description = "NZBs of 20 MiB that are added to the server as the readers begin" };
    public readonly Option<bool> Once = Switch("--once", "Readers stop at the end of their file");
    public readonly Option<double?> Storm = new("--storm") { Description = "Seeks per second of all readers together, each for 64 KiB, for --storm-seconds" };
    public readonly Option<double> StormSeconds = With("--storm-seconds", 60d, "How long they seek");
    public readonly Option<double?> Soak = new("--soak") { Description = "Minutes of readers that seek, cancel and go on while 1 % of bodies is wrong in each way" };
    public readonly Option<string?> Server = Text("--server", "Measure this running server through its SABnzbd API and WebDAV");
    public readonly Option<string?> ApiKeyEnv = Text("--api-key-env", "Variable that holds its API key");
    public readonly Option<string> WebDavUser = With("--webdav-user", "admin", "Username of its WebDAV tree");
    public readonly Option<string?> WebDavPassEnv = Text("--webdav-pass-env", "Variable that holds its password");
    public readonly Option<int?> Pid = new("--pid") { Description = "Its process, for CPU time and memory" };
    public readonly Option<string?> Category = Text("--category", "Category that the release is added to");
    public readonly Option<string?> Json = Text("--json", "Result as JSON; - is stdout");
    public readonly Option<string?> Compare = Text("--compare", "Compare with an earlier JSON");
    public readonly Option<double> Tolerance = With("--tolerance", 10d, "Per cent that a figure may be worse");
    public readonly Option<string?> Keep = Text("--keep", "Folder that takes the NZB and the mock's counters");
    public readonly Option<bool> Quiet = Switch("--quiet", "Print the summary only");
    public readonly Option<bool> NoColor = Switch("--no-color", "Never print colour");
    public readonly Option<double> Timeout = With("--timeout", 600d, "Limit of the whole run in seconds, beside the time of a soak");

    private readonly Option<bool> _ancestor = new("--test-full-nzb") { Hidden = true };

    public RootCommand Command()
    {
        var command = new RootCommand("Takes one NZB through the engine, from parsing to seeking and streaming, and reports what a viewer would feel.");
        command.Add(Nzb);
        foreach (var flag in All)
            command.Add(flag);
        return command;
    }

    private IEnumerable<Option> All =>
    [
        MockServer, MockPort, Latency, Jitter, SerialLatency, Size, Connections, Stall, StallSeconds, NoticeMs, Seed, Missing, Corrupt, Layout, Volumes, Par2, Password, SkipRarParsing, Files, Obfuscate,
        ArticleSize, Providers, Coverage, Bandwidth, BandwidthConnection, Piece, MaxConnections, Tls, Faults, Media, Host, Port, User, PassEnv, Ssl, SkipTlsVerify,
        ProvidersFile, Provider, Pipelining, ByteBudget, ReadAhead, VerifyBeforeServe, Steps, Limit, Seeks, Runs, Ceiling, NoCeiling, Playback, Readers,
        PlaybackSeconds, SameFile, Imports, Once, Storm, StormSeconds, Soak, Server, ApiKeyEnv, WebDavUser, WebDavPassEnv, Pid, Category, Json, Compare, Tolerance, Keep, Quiet, NoColor, Timeout, _ancestor,
    ];

    private static Option<bool> Switch(string name, string help) => new(name) { Description = help };

    private static Option<string?> Text(string name, string help) => new(name) { Description = help };

    private static Option<T> With<T>(string name, T value, string help) => new(name) { Description = help, DefaultValueFactory = _ => value };
}
