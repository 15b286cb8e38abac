using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The NZB under test, and where the truth about its bytes comes from.</summary>
internal sealed class ReleaseContent
{
    private readonly IReadOnlyList<MediaContent> _media;
    private readonly bool _knowsTruth;

    private ReleaseContent(string name, byte[] nzb, IReadOnlyList<MediaContent> media, bool knowsTruth)
    {
        Name = name;
        Nzb = nzb;
        _media = media;
        _knowsTruth = knowsTruth;
    }

    /// <summary>Name of the release: that of the NZB without extension.</summary>
    public string Name { get; }

    /// <summary>The NZB in memory.</summary>
    public byte[] Nzb { get; }

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
        IReadOnlyList<MediaContent> media = options.Mock?.Media is { } path ? [MediaContent.FromFile(path)] : [];
        if (options.NzbFile is not null)
            return new ReleaseContent(Path.GetFileNameWithoutExtension(options.NzbFile), ReadNzb(options.NzbFile), media, options.Mock is not null);

        var mock = options.Mock ?? throw new UsageException("Name an NZB, or add --mock-server.");
        var release = media.Count > 0
            ? MockRelease.Media(seed ?? options.Seed, media, mock.ArticleSize, mock.Obfuscate)
            : MockRelease.Plain(seed ?? options.Seed, mock.Size, mock.Files, mock.ArticleSize, mock.Obfuscate);
        return new ReleaseContent(release.Title, release.ToNzb(), media, knowsTruth: true);
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
                files.Add(file);
        }
        catch (NzbFormatException error)
        {
            throw new RefusedException(error.Fault switch { NzbFault.Empty => "NzbEmpty", NzbFault.TooLarge => "NzbTooLarge", _ => "NotAnNzb" }, error.Message);
        }

        return files;
    }

    /// <summary>The truth of a posted file by its first article; null where nobody knows it.</summary>
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
