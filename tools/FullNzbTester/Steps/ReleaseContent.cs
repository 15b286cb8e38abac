using Sluice.Tools.FullNzbTester.Checks;
using Sluice.Tools.FullNzbTester.Cli;
using Sluice.Tools.FullNzbTester.Mock;
using Sluice.Tools.MockNntpServer.Articles;
using Sluice.Tools.MockNntpServer.Layouts;
using Sluice.Usenet.Nzb;

namespace Sluice.Tools.FullNzbTester.Steps;

/// <summary>The NZB under test, and where the truth about its bytes comes from.</summary>
internal sealed class ReleaseContent
{
    private readonly IReadOnlyList<MediaContent> _media;
    private readonly bool _knowsTruth;
    private readonly Lazy<byte[]> _nzb;

    // Of a layout that the NZB of a file names; known once its first article has been looked at.
    private MockRelease? _laidOut;

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

    /// <summary>The release as it was laid out; null for one of plain files, and before an article of it was looked at.</summary>
    public MockRelease? LaidOut => _laidOut;

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
    /// <param name="head">Filled with what the NZB says about itself.</param>
    /// <param name="cancellationToken">Gives up.</param>
    /// <exception cref="RefusedException">It is no NZB that can be used.</exception>
    /// <exception cref="UsageException">It is none that the mock can serve.</exception>
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

        // Whether the mock can serve it is known before it is asked.
        if (_knowsTruth)
            files.ForEach(file => Check(file.Segments.First(segment => !segment.IsHole).Ids.Primary));
        return files;
    }

    /// <summary>The truth of the posted file that an article of the mock is of.</summary>
    public Truth TruthOfPosted(MockMessageId article) => article.Source switch
    {
        ContentSource.Media => Truth.Of(_media[article.File].Bytes),
        ContentSource.Layout => Truth.Of(_laidOut!.BytesOf(article.File)),
        _ => Truth.Of(article.Seed, article.File),
    };

    /// <summary>Gives a file its truth: that of the file inside of archives that its posted files hold, else of its posted file. It stays without where the truth is unknown.</summary>
    /// <param name="file">The file.</param>
    /// <param name="innerPath">Its path inside; null where it is posted or joined.</param>
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

    /// <summary>Gives a file that is posted files one behind the other their bytes as its truth.</summary>
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
