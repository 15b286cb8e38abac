using Sluice.Server.Database;
using Sluice.Usenet.Media;
using Sluice.Usenet.Media.Subtitles;
using Sluice.Usenet.Media.Titles;
using Sluice.Usenet.Nntp;

namespace Sluice.Server.Library;

/// <summary>A subtitle file next to a film.</summary>
/// <param name="Kind">Its format according to its extension.</param>
/// <param name="Name">Language and other marks in its name.</param>
internal sealed record Sidecar(LibraryFile File, MediaKind Kind, SubtitleName Name);

/// <summary>
/// Reads the subtitles of a film: external files whole, embedded tracks in time ranges. Thread-safe. Reads in the import lane: it serves only verified bytes,
/// and a player that needs the same segment goes first. <c>_gate</c> guards the list of opened films.
/// </summary>
internal sealed class SubtitleProbe(FileStreamFactory files, SluiceDatabase database, TimeProvider time)
{
    // Films have subtitles in fewer languages.
    private const int MaxSidecars = 64;

    // A household plays fewer films at once. A film's index takes 100 KB, at most 10 MB.
    private const int MaxOpened = 8;

    private static readonly TimeSpan ReadTimeout = TimeSpan.FromSeconds(30);

    private readonly Lock _gate = new();

    // Most recently used first.
    private readonly LinkedList<(Guid File, string ETag, FilmSubtitles? Subtitles)> _opened = new();

    /// <summary>Lists the subtitle files of a film by path.</summary>
    public async Task<IReadOnlyList<Sidecar>> ListSidecarsAsync(LibraryFile film, CancellationToken cancellationToken)
    {
        if (film.Release.Id == 0)
            return [];
        var all = await database.ReadAsync(connection => LibraryStore.ListFiles(connection, film.Release), cancellationToken);
        var folder = FolderOf(film);
        var isOnlyFilm = all.Count(file => FolderOf(file) == folder && MediaSignature.CategoryOf(KindOf(file)) == MediaCategory.Video) <= 1;
        return
        [
            .. all
                .Where(file => IsSubtitle(KindOf(file)) && file.Path.StartsWith(folder, StringComparison.Ordinal) && (isOnlyFilm || Belongs(file.Path[folder.Length..], film.Name)))
                .Take(MaxSidecars)
                .Select(file => new Sidecar(file, KindOf(file), SubtitleName.Parse(file.Name, film.Name))),
        ];
    }

    /// <summary>Reads a whole subtitle file. Returns either its content or the failure.</summary>
    public Task<(SubtitleText? Text, ReadFailure? Failure)> ReadAsync(Sidecar sidecar, CancellationToken cancellationToken) =>
        GuardAsync(
            async token =>
            {
                if (sidecar.File.Length > SubtitleReader.MaxBytes)
                    return new SubtitleText(SubtitleVerdict.TooLarge, []);
                var bytes = new byte[(int)sidecar.File.Length];
                await using var opened = await files.OpenAsync(sidecar.File, 0, bytes.Length, OperationLane.Import, client: null, new ReaderAccount(TrafficLane.Other), token);
                var read = await opened.Stream.ReadAtLeastAsync(bytes, bytes.Length, throwOnEndOfStream: false, token);
                return SubtitleReader.Read(bytes.AsSpan(0, read), sidecar.Name.Language);
            },
            cancellationToken);

    /// <summary>Reads a time range of an embedded track. Returns the range, the failure, or neither if no such text track exists.</summary>
    /// <param name="track">0-based number among the header's subtitle tracks.</param>
    /// <param name="from">Start in milliseconds.</param>
    /// <param name="to">End in milliseconds, see <see cref="FilmSubtitles.ReadAsync"/>.</param>
    public Task<(SubtitleStretch? Stretch, ReadFailure? Failure)> ReadStretchAsync(
        LibraryFile film, int track, long from, long to, CancellationToken cancellationToken) =>
        GuardAsync(
            async token =>
            {
                await using var bytes = new StretchBytes(files, film);
                if (!TryFind(film, out var subtitles))
                {
                    subtitles = await FilmSubtitles.OpenAsync((offset, length, ending) => bytes.ReadAsync(offset, length, offset + length, ending), film.Length, token);
                    Keep(film, subtitles);
                }

                return subtitles is null ? null : await subtitles.ReadAsync(track, from, to, bytes.ReadAsync, token);
            },
            cancellationToken);

    private async Task<(T? Result, ReadFailure? Failure)> GuardAsync<T>(Func<CancellationToken, Task<T?>> read, CancellationToken cancellationToken)
        where T : class
    {
        using var timeout = new CancellationTokenSource(ReadTimeout, time);
        using var either = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, timeout.Token);
        try
        {
            return (await read(either.Token), null);
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            return (null, ReadFailure.Unreachable);
        }
        catch (Exception e) when (Playback.Explain(e) is { } failure)
        {
            return (null, failure);
        }
    }

    private bool TryFind(LibraryFile film, out FilmSubtitles? subtitles)
    {
        lock (_gate)
        {
            for (var node = _opened.First; node is not null; node = node.Next)
            {
                if (node.Value.File != film.Id || node.Value.ETag != film.ETag)
                    continue;
                _opened.Remove(node);
                _opened.AddFirst(node);
                subtitles = node.Value.Subtitles;
                return true;
            }
        }

        subtitles = null;
        return false;
    }

    private void Keep(LibraryFile film, FilmSubtitles? subtitles)
    {
        lock (_gate)
        {
            _opened.AddFirst((film.Id, film.ETag, subtitles));
            if (_opened.Count > MaxOpened)
                _opened.RemoveLast();
        }
    }

    /// <summary>Whether a subtitle file belongs to this film and not to another in the folder: by its name, its folder, or the same episode.</summary>
    private static bool Belongs(string path, string film) =>
        path.Contains(Path.GetFileNameWithoutExtension(film), StringComparison.OrdinalIgnoreCase)
        || (TitleOf(film) is { Episodes: { } episode } title && TitleOf(Path.GetFileName(path)) is { } other && other.Episodes == episode && other.Season == title.Season);

    private static ReleaseTitle? TitleOf(string name) => ReleaseTitle.Parse(Path.GetFileNameWithoutExtension(name));

    /// <summary>The folder's path inside the release, with a trailing separator; empty for the release itself.</summary>
    private static string FolderOf(LibraryFile file) => file.Path[..^file.Name.Length];

    private static MediaKind KindOf(LibraryFile file) => MediaSignature.KindOf(Path.GetExtension(file.Name).TrimStart('.'));

    private static bool IsSubtitle(MediaKind kind) => kind is MediaKind.SubRip or MediaKind.SubStation or MediaKind.WebVtt;

    /// <summary>The film's bytes for one time range. All reads of a range share one stream, so that the stream can prefetch.</summary>
    private sealed class StretchBytes(FileStreamFactory files, LibraryFile film) : IAsyncDisposable
    {
        private readonly ReaderAccount _account = new(TrafficLane.Other);
        private OpenedFile? _opened;
        private long _end;
        private byte[] _buffer = [];

        public async ValueTask<ReadOnlyMemory<byte>> ReadAsync(long offset, int length, long end, CancellationToken cancellationToken)
        {
            if (_opened is null || _end != end || offset < _opened.Stream.Position)
            {
                await DisposeAsync();
                _opened = await files.OpenAsync(film, offset, end, OperationLane.Import, client: null, _account, cancellationToken);
                _end = end;
            }

            if (_opened.Stream.Position != offset)
                _opened.Stream.Position = offset;
            if (_buffer.Length < length)
                _buffer = new byte[length];
            var read = await _opened.Stream.ReadAtLeastAsync(_buffer.AsMemory(0, length), length, throwOnEndOfStream: false, cancellationToken);
            return _buffer.AsMemory(0, read);
        }

        public async ValueTask DisposeAsync()
        {
            var opened = _opened;
            _opened = null;
            if (opened is not null)
                await opened.DisposeAsync();
        }
    }
}
