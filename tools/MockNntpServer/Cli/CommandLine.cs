using System.Globalization;
using System.Net;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Control;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;

namespace Sluice.Tools.MockNntpServer.Cli;

/// <summary>Parsed flags of the executable. Files named in flags are read immediately.</summary>
internal sealed class CommandLine
{
    public const string Usage = """
        MockNntpServer [flags]: a news server made of arithmetic

        release    --size=MiB (200) --files=N (1) --article-size=BYTES (716800) --seed=N (1) --obfuscate
                   --layout=plain|pack|split|rar4|rar4-enc|rar5|rar5-enc|rar5-hdrenc|7z|7z-enc|zip|tar|nested
                   --volumes=N (of each set: 20; of a zip 1) --par2=N (recovery blocks) --password=TEXT (of -enc and -hdrenc)
                   --media=FILE (several times for several files)   --nzb=FILE (written at start)
                   --preload (encodes ahead)
        articles   --spool=DIR   --cache=MiB (512)   --missing=RATE|LIST   --corrupt=RATE|LIST   --faults=FILE
        providers  --providers=N (1) --port=N (0: free) --bind=ADDRESS (127.0.0.1) --user=NAME --pass-env=VARIABLE
                   --tls[=valid|wrong-host|expired|self-signed] --ca-file=FILE
        each       one value, or one per provider with commas: --latency=MS (50) --jitter=MS (10) --serial-latency
                   --connections=N (20) --max-conns=N (2 x connections, 0: no cap) --cap-at-login --coverage=SHARE (1.0)
                   --bandwidth=MBIT --bandwidth-conn=MBIT --piece=BYTES --stall=RATE --stall-seconds=S (10)
                   --notice-ms=MS|end (0: how long a socket counts that was closed in the midst of an answer; end: until that ends)
        control    --control-port=N (0: free)   --exit-with-stdin   --help

        RATE is 0.01 or 1%; LIST is 17,200-203 (parts) or 2:17 (part 17 of file 2). When all listens, one line on stderr says
        where: ready nntp=HOST:PORT[,...] control=HOST:PORT [ca=FILE]. The control port takes GET /stats, POST /reset, POST /drop,
        POST /release?seed=N (encodes that release ahead in place of others, and answers with its NZB),
        POST /set?latency=150&missing=0.01[&provider=0] and POST /faults. SIGTERM ends it.
        """;

    private static readonly HashSet<string> Valued =
    [
        "size", "files", "article-size", "seed", "layout", "volumes", "par2", "password", "media", "nzb", "spool", "cache", "missing", "corrupt", "faults", "providers", "port",
        "bind", "user", "pass-env", "ca-file", "connections", "control-port", .. ProviderSettings.Names.Except(["serial-latency", "cap-at-login"]),
    ];

    private static readonly HashSet<string> Switches = ["obfuscate", "preload", "tls", "serial-latency", "cap-at-login", "exit-with-stdin", "help"];

    private readonly Arguments _arguments;

    /// <exception cref="FormatException">A flag is unknown or its value is invalid.</exception>
    public CommandLine(IReadOnlyList<string> args)
    {
        _arguments = new Arguments(args, Valued, Switches);
        if (WantsHelp)
            return;
        var media = _arguments.All("media").Select(MediaContent.FromFile).ToList();
        Release = MakeRelease(media, Seed);
        Options = MakeOptions(media);
    }

    public bool WantsHelp => _arguments.Has("help");

    public bool ExitsWithStdin => _arguments.Has("exit-with-stdin");

    public bool Preloads => _arguments.Has("preload");

    public string? NzbFile => _arguments.Get("nzb");

    public string? AuthorityFile => _arguments.Get("ca-file");

    public MockOptions Options { get; } = new();

    /// <summary>The release that the flags describe; null if help is requested.</summary>
    public MockRelease? Release { get; }

    private ulong Seed => (ulong)Whole("seed", 1, long.MaxValue);

    private MockRelease MakeRelease(List<MediaContent> media, ulong seed)
    {
        var articleSize = (int)Whole("article-size", MockFile.DefaultArticleSize, MockMessageId.MaxPartLength);
        if (articleSize == 0)
            throw new FormatException("--article-size is at least 1.");
        if (media.Count > 0)
            return MockRelease.Media(seed, media, articleSize, _arguments.Has("obfuscate"));
        var (layout, size) = (_arguments.Get("layout") ?? "plain", Whole("size", 200, 1 << 24) << 20);
        var files = (int)Math.Max(1, Whole("files", 1, 100_000));
        return layout is "plain" or "pack" ? MockRelease.Plain(seed, size, files, articleSize, _arguments.Has("obfuscate")) : LayOut(layout, seed, size, files, articleSize);
    }

    private MockRelease LayOut(string layout, ulong seed, long size, int files, int articleSize)
    {
        if (!LayoutRecipe.Names.Contains(layout))
            throw new FormatException($"--layout={layout} is not known.");
        try
        {
            return new LayoutRecipe
            {
                Layout = layout,
                Size = size,
                Files = files,
                Volumes = _arguments.Has("volumes") ? (int)Math.Max(1, Whole("volumes", 1, 10_000)) : null,
                Par2 = _arguments.Has("par2") ? (int)Whole("par2", 0, 10_000) : null,
                Password = _arguments.Get("password"),
                Obfuscates = _arguments.Has("obfuscate"),
            }.Make(seed, articleSize);
        }
        catch (ArgumentException error)
        {
            throw new FormatException($"--layout={layout}: {error.Message}");
        }
    }

    private MockOptions MakeOptions(List<MediaContent> media)
    {
        var count = (int)Math.Max(1, Whole("providers", 1, 100));
        return new MockOptions
        {
            Providers = [.. Enumerable.Range(0, count).Select(MakeProvider)],
            Seed = Seed,
            Missing = ArticleSelection.Parse(_arguments.Get("missing") ?? "0"),
            Corrupt = ArticleSelection.Parse(_arguments.Get("corrupt") ?? "0"),
            Faults = _arguments.Get("faults") is { } script ? FaultScript.Parse(File.ReadAllText(script)) : [],
            Media = media,
            Release = seed => MakeRelease(media, seed),
            Spool = _arguments.Get("spool"),
            CacheBytes = Whole("cache", 512, 1 << 20) << 20,
            Bind = _arguments.Get("bind") is { } bind ? IPAddress.Parse(bind) : IPAddress.Loopback,
            ControlPort = (int)Whole("control-port", 0, 65535),
        };
    }

    private MockProvider MakeProvider(int index)
    {
        var provider = new MockProvider
        {
            Port = (int)Whole("port", ForProvider("port", index), 0, 65535),
            Latency = TimeSpan.FromMilliseconds(50),
            Jitter = TimeSpan.FromMilliseconds(10),
            MaxConnections = 2 * (int)Whole("connections", ForProvider("connections", index), 20, 10_000),
            User = _arguments.Get("user"),
            Password = _arguments.Get("pass-env") is { } variable ? Password(variable) : null,
            Tls = !_arguments.Has("tls") ? MockTls.None : ForProvider("tls", index) switch
            {
                "" or "true" or "valid" => MockTls.Valid,
                "false" => MockTls.None,
                "wrong-host" => MockTls.WrongHost,
                "expired" => MockTls.Expired,
                "self-signed" => MockTls.SelfSigned,
                var other => throw new FormatException($"--tls={other} is not known."),
            },
        };
        foreach (var name in ProviderSettings.Names)
        {
            if (ForProvider(name, index) is { } value)
                provider = ProviderSettings.Set(provider, name, value);
        }

        return provider;
    }

    /// <summary>Returns a provider's value from a comma-separated list. The last value applies to all further providers.</summary>
    private string? ForProvider(string name, int index) =>
        _arguments.Get(name)?.Split(',') is { } values ? values[Math.Min(index, values.Length - 1)] : null;

    private static string Password(string variable) =>
        Environment.GetEnvironmentVariable(variable) ?? throw new FormatException($"--pass-env: there is no variable {variable}.");

    private long Whole(string name, long otherwise, long most) => Whole(name, _arguments.Get(name), otherwise, most);

    private static long Whole(string name, string? value, long otherwise, long most) => value is not { } text
        ? otherwise
        : long.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out var number) && number <= most
            ? number
            : throw new FormatException($"--{name}: \"{text}\" is no number from 0 to {most}.");
}
