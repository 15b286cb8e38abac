using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The NZB under test, and where the truth about its bytes comes from.</summary>
internal sealed class ReleaseContent
{
    private readonly IReadOnlyList<MediaContent> _media;
    private readonly bool _knowsTruth;
    private readonly Lazy<byte[]> _nzb;

    private ReleaseContent(string name, Lazy<byte[]> nzb, IReadOnlyList<MediaContent> media, bool knowsTruth)
    {
        Name = name;
        _nzb = nzb;
        _media = media;
        _knowsTruth = knowsTruth;
    }

    /// <summary>Name of the release: that of the NZB without extension.</summary>
    public string Name { get; }

    /// <summary>The NZB in memory; that of a release that is made costs its encoding when it is first asked for.</summary>
    public byte[] Nzb => _nzb.Value;

    /// <summary>Whether bytes are compared with a real file.</summary>
    public bool IsMedia => _media.Count > 0;

    /// <summary>Whether bytes are compared at all.</summary>
    public bool IsCompared => _knowsTruth;

    /// <summary>Reads the NZB of a file, or makes that of a release that the mock can serve.</summary>
    /// <exception cref="UsageException">The file cannot be read.</exception>
    /// <param name="options">What was asked for.</param>
    /// <param name="seed">Seed of a release that is made; null for that of the options.</param>
    public static ReleaseContent Load(TesterOptions options, ulong? seed = null)
    {
        var media = MediaOf(options);
        if (options.NzbFile is not null)
            return new ReleaseContent(Path.GetFileNameWithoutExtension(options.NzbFile), new Lazy<byte[]>(ReadNzb(options.NzbFile)), media, options.Mock is not null);

        var release = MakeRelease(options, seed ?? options.Seed, media);
        return new ReleaseContent(release.Title, new Lazy<byte[]>(release.ToNzb), media, knowsTruth: true);
    }

    /// <summary>A release that is about to be read whole: the mock makes its articles ready and its NZB with them.</summary>
    /// <param name="options">The options of the run; the mock was started with them.</param>
    /// <param name="seed">Seed of the release.</param>
    /// <param name="mock">The mock.</param>
    /// <param name="cancellationToken">Gives it up.</param>
    public static async Task<ReleaseContent> PrepareAsync(TesterOptions options, ulong seed, MockControl mock, CancellationToken cancellationToken)
    {
        var media = MediaOf(options);
        var nzb = await mock.PrepareAsync(seed, cancellationToken);
        return new ReleaseContent(MakeRelease(options, seed, media).Title, new Lazy<byte[]>(nzb), media, knowsTruth: true);
    }

    /// <summary>The posted files that the NZB lists.</summary>
    /// <exception cref="RefusedException">It is no NZB that can be used.</exception>
    public async Task<IReadOnlyList<NzbFile>> ReadFilesAsync(CancellationToken cancellationToken)
    {
        var files = new List<NzbFile>();
        try
        {
            using var nzb = new MemoryStream(Nzb, writable: false);
            await foreach (var file in NzbReader.ReadAsync(nzb, limits: null, new NzbHead(), cancellationToken))
                files.Add(file with { Segments = [.. file.Segments] });
        }
        catch (NzbFormatException error)
        {
            throw new RefusedException(error.Fault switch { NzbFault.Empty => "NzbEmpty", NzbFault.TooLarge => "NzbTooLarge", _ => "NotAnNzb" }, error.Message);
        }

        return files;
    }

    /// <summary>The truth of a posted file by its first article; null where it is unknown.</summary>
    /// <exception cref="UsageException">The NZB is none that the mock can serve.</exception>
    public ExpectedContent? ContentOf(MessageId article)
    {
        if (!_knowsTruth)
            return null;
        if (!MockMessageId.TryParse(article.ToString(), out var made))
            throw new UsageException("With --mock-server the NZB has to be one that the mock wrote.");
        if (made.Source == ContentSource.Media && made.File >= _media.Count)
            throw new UsageException("The NZB is of a real file: name it with --media.");

        var media = made.Source == ContentSource.Media ? _media : [];
        return new ExpectedContent(() => Truth.Of(made.Seed, media), made.File);
    }

    private static IReadOnlyList<MediaContent> MediaOf(TesterOptions options) => options.Mock?.Media is { } path ? [MediaContent.FromFile(path)] : [];

    private static MockRelease MakeRelease(TesterOptions options, ulong seed, IReadOnlyList<MediaContent> media)
    {
        var mock = options.Mock ?? throw new UsageException("Name an NZB, or add --mock-server.");
        return media.Count > 0
            ? MockRelease.Media(seed, media, mock.ArticleSize, mock.Obfuscate)
            : MockRelease.Plain(seed, mock.Size, mock.Files, mock.ArticleSize, mock.Obfuscate);
    }

    private static byte[] ReadNzb(string path)
    {
        try
        {
            return File.ReadAllBytes(path);
        }
        catch (Exception error) when (error is IOException or UnauthorizedAccessException)
        {
            throw new UsageException($"{path} cannot be read: {error.Message}");
        }
    }
}
