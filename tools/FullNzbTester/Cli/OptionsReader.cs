using System.CommandLine;
using System.Globalization;
using Sluice.Tools.MockNntpServer.Faults;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Nntp;

namespace Sluice.Tools.FullNzbTester.Cli;

/// <summary>Converts flags into options, and rejects combinations that make no sense.</summary>
internal sealed class OptionsReader(TesterFlags flags, ParseResult line)
{
    private const long MiB = 1L << 20;
    private const int FilesOfPack = 100;

    // Default rate of a soak reader in bytes per second, similar to a high-quality film.
    private const long SoakRate = 2_000_000;

    /// <param name="args">The command line, for the report.</param>
    /// <exception cref="UsageException">The flags make no sense.</exception>
    public TesterOptions Read(IReadOnlyList<string> args)
    {
        var nzb = line.GetValue(flags.Nzb);
        var withMock = line.GetValue(flags.MockServer);
        if (nzb is null && !withMock)
            throw new UsageException("Name an NZB, or add --mock-server.");

        return new TesterOptions
        {
            Args = WithoutSecrets(args),
            NzbFile = nzb,
            Mock = withMock ? ReadMock() : null,
            Server = ReadServer(),
            Providers = withMock || line.GetValue(flags.Server) is not null ? [] : ReadProviders(),
            Connections = Between(flags.Connections, 1, 500),
            Pipelining = Between(flags.Pipelining, 1, 64),
            ByteBudget = Between(flags.ByteBudget, 16, 1 << 20) * MiB,
            ReadAhead = Between(flags.ReadAhead, 1, 1 << 20) * MiB,
            Passwords = line.GetValue(flags.Password) is { } password ? [password] : [],
            SkipArchives = line.GetValue(flags.SkipRarParsing),
            VerifyBeforeServe = line.GetValue(flags.VerifyBeforeServe),
            Steps = ReadSteps(line.GetValue(flags.Steps)!),
            Limit = Between(flags.Limit, 1, 1 << 20) * MiB,
            Seeks = Between(flags.Seeks, 0, 10_000),
            Runs = Between(flags.Runs, 1, 1000),
            Ceiling = line.GetValue(flags.Ceiling) || (withMock && !line.GetValue(flags.NoCeiling)),
            Playback = ReadPlayback(),
            Storm = ReadStorm(),
            Soak = ReadSoak(),
            JsonFile = line.GetValue(flags.Json),
            CompareFile = line.GetValue(flags.Compare),
            TolerancePercent = Between(flags.Tolerance, 0, 1000),
            KeepFolder = line.GetValue(flags.Keep),
            Quiet = line.GetValue(flags.Quiet),
            NoColor = line.GetValue(flags.NoColor),
            Timeout = TimeSpan.FromSeconds(Between(flags.Timeout, 1, 86_400)),
            Seed = (ulong)Between(flags.Seed, 0, long.MaxValue),
        };
    }

    private MockFlags ReadMock()
    {
        if (line.GetValue(flags.Host) is not null || line.GetValue(flags.ProvidersFile) is not null)
            throw new UsageException("--mock-server and real providers exclude each other.");
        var layout = line.GetValue(flags.Layout)!;
        if (layout is not ("plain" or "pack") && !LayoutRecipe.Names.Contains(layout))
            throw new UsageException($"--layout: {layout} is none of plain, pack, {string.Join(", ", LayoutRecipe.Names)}.");
        if (layout is "plain" or "pack" && (line.GetValue(flags.Volumes) ?? line.GetValue(flags.Par2)) is not null)
            throw new UsageException($"--volumes and --par2 are for layouts of archives, not for {layout}.");

        var (missing, corrupt) = (Articles(flags.Missing), Articles(flags.Corrupt));
        var coverage = line.GetValue(flags.Coverage)?.Split(',');
        return new MockFlags
        {
            Size = Between(flags.Size, 1, 1 << 20) * MiB,
            Files = Between(flags.Files, 1, 100_000) ?? (layout == "pack" ? FilesOfPack : 1),
            Layout = layout,
            Volumes = Between(flags.Volumes, 1, 10_000),
            Par2 = Between(flags.Par2, 0, 10_000),
            Password = line.GetValue(flags.Password),
            ArticleSize = Between(flags.ArticleSize, 1024, 16 << 20),
            Obfuscate = line.GetValue(flags.Obfuscate),
            Media = ExistingFile(flags.Media),
            Providers = Between(flags.Providers, 1, ProviderSet.MaxProviders),
            Tls = line.GetValue(flags.Tls),
            MakesHoles = missing || corrupt || coverage?.All(share => share.Trim() is not ("1" or "1.0")) == true,
            Line = (line.GetValue(flags.Latency)!, line.GetValue(flags.Jitter)!),
            SoonestAnswer = TimeSpan.FromMilliseconds(Math.Max(0, Numbers(flags.Latency).Min() - Numbers(flags.Jitter).Max())),
            PassedOn = [.. PassedOn()],
        };
    }

    /// <summary>Mock flags except the release description.</summary>
    private IEnumerable<string> PassedOn()
    {
        yield return $"--port={Ports()}";
        yield return $"--latency={line.GetValue(flags.Latency)}";
        yield return $"--jitter={line.GetValue(flags.Jitter)}";
        yield return string.Create(CultureInfo.InvariantCulture, $"--seed={line.GetValue(flags.Seed)}");
        yield return $"--providers={line.GetValue(flags.Providers)}";
        yield return $"--connections={line.GetValue(flags.Connections)}";
        if (line.GetValue(flags.MaxConnections) is { } cap)
            yield return string.Create(CultureInfo.InvariantCulture, $"--max-conns={cap}");
        if (line.GetValue(flags.SerialLatency))
            yield return "--serial-latency=true";
        if (line.GetValue(flags.Tls))
            yield return "--tls";
        Option<string?>[] texts =
            [flags.Stall, flags.StallSeconds, flags.NoticeMs, flags.Missing, flags.Corrupt, flags.Coverage, flags.Bandwidth, flags.BandwidthConnection, flags.Piece, flags.Faults];
        foreach (var flag in texts)
        {
            if (line.GetValue(flag) is { } value)
                yield return $"{flag.Name}={value}";
        }
    }

    /// <summary>Ports of the mock's providers: consecutive, starting with the first.</summary>
    private string Ports()
    {
        var first = Between(flags.MockPort, 0, 65535 - ProviderSet.MaxProviders);
        return string.Join(',', Enumerable.Range(0, line.GetValue(flags.Providers)).Select(index => (first == 0 ? 0 : first + index).ToString(CultureInfo.InvariantCulture)));
    }

    private ServerFlags? ReadServer()
    {
        if (line.GetValue(flags.Server) is not { } text)
            return null;
        if (line.GetValue(flags.Host) is not null || line.GetValue(flags.ProvidersFile) is not null)
            throw new UsageException("--server has providers of its own: --host and --providers-file are for the engine.");
        if (line.GetValue(flags.Ceiling) && !line.GetValue(flags.MockServer))
            throw new UsageException("--ceiling: without the mock only the server knows its providers.");
        if (!Uri.TryCreate(text.TrimEnd('/') + "/", UriKind.Absolute, out var url) || url.Scheme is not ("http" or "https") || url.UserInfo.Length > 0)
            throw new UsageException("--server is a URL such as http://127.0.0.1:3000, without username and password.");
        var pid = Between(flags.Pid, 1, int.MaxValue);
        if (pid is { } known && !Directory.Exists($"/proc/{known}") && OperatingSystem.IsLinux())
            throw new UsageException($"--pid: there is no process {known}.");
        return new ServerFlags(url, Secret(flags.ApiKeyEnv), line.GetValue(flags.WebDavUser)!, Secret(flags.WebDavPassEnv), pid, line.GetValue(flags.Category));
    }

    private string Secret(Option<string?> flag)
    {
        var variable = line.GetValue(flag) ?? throw new UsageException($"--server needs {flag.Name}.");
        return Environment.GetEnvironmentVariable(variable) ?? throw new UsageException($"{flag.Name}: the variable {variable} is not set.");
    }

    /// <summary>Reads one value for all providers, or one for each.</summary>
    private IEnumerable<double> Numbers(Option<string> flag) => line.GetValue(flag)!.Split(',').Select(text =>
        double.TryParse(text, NumberStyles.AllowDecimalPoint, CultureInfo.InvariantCulture, out var number)
            ? number
            : throw new UsageException($"{flag.Name}: \"{text}\" is no number of ms."));

    private IReadOnlyList<ProviderOptions> ReadProviders()
    {
        if (line.GetValue(flags.ProvidersFile) is { } file)
            return WithDepth(ProvidersFile.Read(file, line.GetValue(flags.Provider)));
        if (line.GetValue(flags.Host) is not { Length: > 0 } host)
            throw new UsageException("Name a provider by --host or --providers-file, or add --mock-server.");

        var variable = line.GetValue(flags.PassEnv);
        var password = variable is null ? null : Environment.GetEnvironmentVariable(variable);
        if (variable is not null && password is null)
            throw new UsageException($"--pass-env: the variable {variable} is not set.");
        if (host.AsSpan().ContainsAny("\r\n\0 "))
            throw new UsageException("--host is no host name.");

        var tls = line.GetValue(flags.Ssl);
        return
        [
            new ProviderOptions
            {
                Name = host,
                Host = host,
                Port = Between(flags.Port, 1, 65535) ?? (tls ? 563 : 119),
                UseTls = tls,
                SkipTlsVerification = line.GetValue(flags.SkipTlsVerify),
                User = line.GetValue(flags.User),
                Password = password,
                MaxConnections = Between(flags.Connections, 1, 500),
                PipeliningDepth = Between(flags.Pipelining, 1, 64),
            },
        ];
    }

    private IReadOnlyList<ProviderOptions> WithDepth(IReadOnlyList<ProviderOptions> providers) => Between(flags.Pipelining, 1, 64) is { } depth
        ? [.. providers.Select(provider => provider with { PipeliningDepth = depth })]
        : providers;

    private PlaybackFlags? ReadPlayback() => line.GetValue(flags.Playback) is null || line.GetValue(flags.Soak) is not null
        ? null
        : new PlaybackFlags(ReadRate() ?? 0, ReadReaders(1), Seconds(flags.PlaybackSeconds), line.GetValue(flags.SameFile), line.GetValue(flags.Once), ReadImports());

    private int ReadImports() => Between(flags.Imports, 1, 1000) is not { } imports
        ? 0
        : line.GetValue(flags.Server) is not null && line.GetValue(flags.MockServer)
            ? imports
            : throw new UsageException("--imports needs --server and --mock-server: the queue of a server takes releases of the mock.");

    private StormFlags? ReadStorm() => line.GetValue(flags.Storm) is not { } rate
        ? null
        : rate is > 0 and <= 10_000
            ? new StormFlags(rate, ReadReaders(4), Seconds(flags.StormSeconds))
            : throw new UsageException("--storm is a rate up to 10000 seeks per second.");

    private SoakFlags? ReadSoak() => line.GetValue(flags.Soak) is not { } minutes
        ? null
        : minutes is > 0 and <= 1440
            ? new SoakFlags(TimeSpan.FromMinutes(minutes), ReadReaders(32), ReadRate() ?? SoakRate)
            : throw new UsageException("--soak is a time of up to 1440 minutes.");

    private int ReadReaders(int otherwise) => Between(flags.Readers, 1, 1000) ?? otherwise;

    private TimeSpan Seconds(Option<double> flag) => TimeSpan.FromSeconds(Between(flag, 1, 86_400));

    private long? ReadRate() => line.GetValue(flags.Playback) is not { } rate
        ? null
        : rate is >= 0 and <= 100_000
            ? (long)(rate * 125_000)
            : throw new UsageException("--playback is a rate from 0 to 100000 Mbit/s.");

    private bool Articles(Option<string?> flag)
    {
        if (line.GetValue(flag) is not { } text)
            return false;
        try
        {
            return ArticleSelection.Parse(text).Rate > 0;
        }
        catch (FormatException error)
        {
            throw new UsageException($"{flag.Name}: {error.Message}");
        }
    }

    private string? ExistingFile(Option<string?> flag) => line.GetValue(flag) is not { } path || File.Exists(path)
        ? line.GetValue(flag)
        : throw new UsageException($"{flag.Name}: there is no file {path}.");

    private T Between<T>(Option<T> flag, T least, T most)
        where T : IComparable<T> => line.GetValue(flag) is { } value && value.CompareTo(least) >= 0 && value.CompareTo(most) <= 0
            ? value
            : throw new UsageException($"{flag.Name} lies between {least} and {most}.");

    private int? Between(Option<int?> flag, int least, int most) => line.GetValue(flag) is not { } value || (value >= least && value <= most)
        ? line.GetValue(flag)
        : throw new UsageException($"{flag.Name} lies between {least} and {most}.");

    private static HashSet<int> ReadSteps(string text)
    {
        var steps = new HashSet<int>();
        foreach (var item in text.Split(','))
        {
            var ends = item.Split('-', 2);
            if (!TryReadStep(ends[0], out var first) || !TryReadStep(ends[^1], out var last) || first > last)
                throw new UsageException($"--steps: \"{text}\" is no list of steps such as 1-7 or 6,7.");
            steps.UnionWith(Enumerable.Range(first, last - first + 1));
        }

        return steps;
    }

    private static bool TryReadStep(string text, out int step) =>
        int.TryParse(text, NumberStyles.None, CultureInfo.InvariantCulture, out step) && step is >= 1 and <= 7;

    private static string[] WithoutSecrets(IReadOnlyList<string> args)
    {
        var shown = args.ToArray();
        for (var i = 0; i < shown.Length; i++)
        {
            if (shown[i].StartsWith("--password=", StringComparison.Ordinal))
                shown[i] = "--password=...";
            else if (i > 0 && shown[i - 1] == "--password")
                shown[i] = "...";
            else if (shown[i].Split('=', 2) is ["--user" or "--webdav-user", var user])
                shown[i] = shown[i][..(shown[i].IndexOf('=', StringComparison.Ordinal) + 1)] + Masked.User(user);
            else if (i > 0 && shown[i - 1] is "--user" or "--webdav-user")
                shown[i] = Masked.User(shown[i]);
        }

        return shown;
    }
}
