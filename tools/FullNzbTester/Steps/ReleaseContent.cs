using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The NZB under test, and the source of its expected bytes.</summary>
internal sealed class ReleaseContent
{
    private readonly IReadOnlyList<MediaContent> _media;
    private readonly bool _knowsTruth;
    private readonly Lazy<byte[]> _nzb;

    // Set if an NZB file names a layout of the mock; known once the first article id has been parsed.
    private MockRelease? _laidOut;

    private ReleaseContent(string name, Lazy<byte[]> nzb, IReadOnlyList<MediaContent> media, bool knowsTruth)
    {
        Name = name;
        _nzb = nzb;
        _media = media;
        _knowsTruth = knowsTruth;
    }

    public string Name { get; }

    /// <summary>The NZB in memory. A generated release is encoded when this is first read.</summary>
    public byte[] Nzb => _nzb.Value;

    /// <summary>Whether bytes are compared with a real file.</summary>
    public bool IsMedia => _media.Count > 0;

    /// <summary>Whether bytes are compared at all.</summary>
    public bool IsCompared => _knowsTruth;

    /// <summary>The layout of the release; null for plain files, and until the first article id has been parsed.</summary>
    public MockRelease? LaidOut => _laidOut;

    /// <summary>Loads an NZB file, or generates the NZB of a release that the mock can serve.</summary>
    /// <param name="seed">Seed of a generated release; null for the seed of the options.</param>
    /// <exception cref="UsageException">The file cannot be read.</exception>
    public static ReleaseContent Load(TesterOptions options, ulong? seed = null)
    {
        var media = MediaOf(options);
        if (options.NzbFile is not null)
            return new ReleaseContent(Path.GetFileNameWithoutExtension(options.NzbFile), new Lazy<byte[]>(ReadNzb(options.NzbFile)), media, options.Mock is not null);

        var release = MakeRelease(options, seed ?? options.Seed, media);
        return new ReleaseContent(release.Title, new Lazy<byte[]>(release.ToNzb), media, knowsTruth: true);
    }

    /// <summary>Prepares a release for a sequential read: the mock pre-encodes its articles and creates its NZB.</summary>
    /// <param name="options">The options of the run; the mock was started with them.</param>
    public static async Task<ReleaseContent> PrepareAsync(TesterOptions options, ulong seed, MockControl mock, CancellationToken cancellationToken)
    {
        var media = MediaOf(options);
        var nzb = await mock.PrepareAsync(seed, cancellationToken);
        return new ReleaseContent(MakeRelease(options, seed, media).Title, new Lazy<byte[]>(nzb), media, knowsTruth: true);
    }

    /// <summary>Reads the posted files that the NZB lists.</summary>
    /// <param name="head">Receives the head data of the NZB.</param>
    /// <exception cref="RefusedException">The NZB cannot be used.</exception>
    /// <exception cref="UsageException">The mock cannot serve the NZB.</exception>
    public async Task<IReadOnlyList<NzbFile>> ReadFilesAsync(NzbHead head, CancellationToken cancellationToken)
    {
        var files = new List<NzbFile>();
        try
        {
            using var nzb = new MemoryStream(Nzb, writable: false);
            await foreach (var file in NzbReader.ReadAsync(nzb, limits: null, head, cancellationToken))
                files.Add(file with { Segments = [.. file.Segments] });
        }
        catch (NzbFormatException error)
        {
            throw new RefusedException(error.Fault switch { NzbFault.Empty => "NzbEmpty", NzbFault.TooLarge => "NzbTooLarge", _ => "NotAnNzb" }, error.Message);
        }

        // Fail before the first request if the mock cannot serve the NZB.
        if (_knowsTruth)
            files.ForEach(file => Check(file.Segments.First(segment => !segment.IsHole).Ids.Primary));
        return files;
    }

    /// <summary>Returns the expected bytes of the posted file that contains an article of the mock.</summary>
    public Truth TruthOfPosted(MockMessageId article) => article.Source switch
    {
        ContentSource.Media => Truth.Of(_media[article.File].Bytes),
        ContentSource.Layout => Truth.Of(_laidOut!.BytesOf(article.File)),
        _ => Truth.Of(article.Seed, article.File),
    };

    /// <summary>
    /// Adds the expected bytes, from the file inside archives or the posted file. The file stays unchanged if they are
    /// unknown.
    /// </summary>
    /// <param name="innerPath">Path inside the archive; null if the file is posted or joined.</param>
    public TestedFile WithTruth(TestedFile file, string? innerPath = null)
    {
        var first = file.Articles.FirstOrDefault(article => !article.Id.IsEmpty).Id;
        if (!_knowsTruth || first.IsEmpty || !MockMessageId.TryParse(first.ToString(), out var made))
            return file;
        file = file with { TruthOfPosted = TruthOfPosted };
        var entry = _laidOut?.Entries.FirstOrDefault(entry =>
            entry.Posted.Contains(made.File) && entry.Bytes.Length == file.Length && (innerPath is null || entry.Path == innerPath));
        if (entry is not null)
            return file with { NewTruth = () => Truth.Of(entry.Bytes) };
        return innerPath is null && (_laidOut is null || file.PostedFiles.Count == 1) ? file with { NewTruth = () => TruthOfPosted(made) } : file;
    }

    /// <summary>Adds the expected bytes of a file that concatenates posted files.</summary>
    public TestedFile WithFlatTruth(TestedFile file) => _laidOut is not { } laidOut
        ? WithTruth(file)
        : file with { TruthOfPosted = TruthOfPosted, NewTruth = () => Truth.Of(MockBytes.Join(file.PostedFiles.Select(laidOut.BytesOf))) };

    private void Check(MessageId article)
    {
        if (!MockMessageId.TryParse(article.ToString(), out var made))
            throw new UsageException("With --mock-server the NZB has to be one that the mock wrote.");
        if (made.Source == ContentSource.Media && made.File >= _media.Count)
            throw new UsageException("The NZB is of a real file: name it with --media.");
        if (made.Recipe is { } recipe && _laidOut is null && LayoutRecipe.TryParse(recipe, out var layout))
            _laidOut = layout.Make(made.Seed);
    }

    private static IReadOnlyList<MediaContent> MediaOf(TesterOptions options) => options.Mock?.Media is { } path ? [MediaContent.FromFile(path)] : [];

    private static MockRelease MakeRelease(TesterOptions options, ulong seed, IReadOnlyList<MediaContent> media)
    {
        var mock = options.Mock ?? throw new UsageException("Name an NZB, or add --mock-server.");
        if (media.Count > 0)
            return MockRelease.Media(seed, media, mock.ArticleSize, mock.Obfuscate);
        if (mock.Recipe is not { } recipe)
            return MockRelease.Plain(seed, mock.Size, mock.Files, mock.ArticleSize, mock.Obfuscate);
        try
        {
            return recipe.Make(seed, mock.ArticleSize);
        }
        catch (ArgumentException error)
        {
            throw new UsageException($"--layout: {error.Message}");
        }
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
