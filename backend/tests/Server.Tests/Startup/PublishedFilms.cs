using System.Collections.Concurrent;
using System.Net;
using System.Security.Cryptography;
using System.Text.RegularExpressions;
using Microsoft.Data.Sqlite;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Logging;
using Sluice.Server.Tests.Database;
using Sluice.Server.Tests.Queue;
using Sluice.Tools.MockNntpServer;
using Sluice.Tools.MockNntpServer.Articles;
using Xunit;

namespace Sluice.Server.Tests.Startup;

/// <summary>A data folder with imported films, which a test damages and then starts again.</summary>
internal sealed partial class PublishedFilms : IAsyncDisposable
{
    private const long FilmSize = 60_000;
    private const int ArticleSize = 20_000;
    private static readonly TimeSpan Limit = TimeSpan.FromSeconds(30);

    private readonly TemporaryFolder _folder = new();
    private readonly MockServer _mock;
    private readonly List<MockRelease> _films = [];
    private readonly List<string> _ids = [];
    private ProductHost? _host;

    private PublishedFilms(MockServer mock) => _mock = mock;

    private static CancellationToken Token => TestContext.Current.CancellationToken;

    public ProductHost Host => _host ?? throw new InvalidOperationException("The server is stopped.");

    public string Root => _folder.Root;

    /// <summary>A folder next to the data folder, as if on another disk. A test creates it.</summary>
    public string Second => Path.Combine(_folder.Parent, "second");

    public string DatabaseFile => _folder.Folder.Database;

    /// <summary>All log lines of the servers of this folder.</summary>
    public ConcurrentQueue<string> Log { get; } = new();

    /// <summary>The id from the log that accepts the database and ends safe mode.</summary>
    public string AcceptId => Log.Select(line => Accept().Match(line)).First(match => match.Success).Groups[1].Value;

    /// <summary>The stored NZBs, by hash.</summary>
    public IReadOnlySet<string> StoredNzbs => Names(_folder.Folder.Blobs);

    /// <summary>The quarantined NZBs, by hash.</summary>
    public IReadOnlySet<string> Quarantined => Names(Path.Combine(Root, "quarantine"));

    /// <summary>Ids of the history items of the films.</summary>
    public IReadOnlyList<string> Ids => _ids;

    /// <summary>Imports films one after the other and stops the server.</summary>
    public static async Task<PublishedFilms> CreateAsync(int count)
    {
        var films = new PublishedFilms(await MockServer.StartAsync());
        await films.StartAsync();
        await films.AddAsync(count);
        await films.StopAsync();
        films.Age();
        return films;
    }

    /// <summary>Imports more films.</summary>
    public async Task AddAsync(int count)
    {
        for (var i = 0; i < count; i++)
        {
            var film = MockRelease.Plain((ulong)(_films.Count + 1), FilmSize, articleSize: ArticleSize);
            var id = (await Host.AddAsync(film.ToNzb(), $"Film {_films.Count + 1}.nzb", Token, "&cat=movies")).Single();
            Assert.Equal("Completed", (await Host.WaitForHistoryAsync(id, Token)).GetProperty("status").GetString());
            _films.Add(film);
            _ids.Add(id);
        }
    }

    public async Task StartAsync(params (string Name, string Value)[] variables)
    {
        _host = await ProductHost.StartAsync(
            _folder, _mock, services => services.AddSingleton<ILoggerProvider>(new Sink(Log)), [.. variables, ("LOG_LEVEL", "information")]);
        _host.Client.DefaultRequestHeaders.Authorization = RunningServer.Basic("admin", ProductHost.Password);
    }

    public async Task StopAsync()
    {
        await Host.DisposeAsync();
        _host = null;
    }

    /// <summary>Sets the time of every stored file to three hours ago.</summary>
    public void Age()
    {
        foreach (var file in Directory.GetFiles(_folder.Folder.Blobs))
            File.SetLastWriteTimeUtc(file, TimeProvider.System.GetUtcNow().UtcDateTime.AddHours(-3));
    }

    /// <summary>Adds a file that looks like a stored NZB and is three hours old.</summary>
    public void AddOrphan()
    {
        var hash = Convert.ToHexStringLower(RandomNumberGenerator.GetBytes(32));
        File.WriteAllText(Path.Combine(_folder.Folder.Blobs, hash + ".nzb.br"), "x");
        Age();
    }

    /// <summary>Copies the database of a stopped server.</summary>
    public byte[] CopyDatabase() => File.ReadAllBytes(DatabaseFile);

    /// <summary>Copies the database of a running server.</summary>
    public byte[] CopyRunningDatabase()
    {
        var copy = Path.Combine(Root, "copy.db");
        using (var connection = new SqliteConnection($"Data Source={DatabaseFile};Mode=ReadOnly;Pooling=False"))
        {
            connection.Open();
            using var command = connection.CreateCommand();
            command.CommandText = "VACUUM INTO $copy";
            command.Parameters.AddWithValue("$copy", copy);
            command.ExecuteNonQuery();
        }

        var bytes = File.ReadAllBytes(copy);
        File.Delete(copy);
        return bytes;
    }

    /// <summary>Replaces the database, or deletes it.</summary>
    public void PutDatabase(byte[]? content)
    {
        foreach (var suffix in (string[])["", "-wal", "-shm"])
            File.Delete(DatabaseFile + suffix);
        if (content is not null)
            File.WriteAllBytes(DatabaseFile, content);
    }

    /// <summary>Empties the data folder of a stopped server, as a new disk or machine does.</summary>
    public void LoseData()
    {
        Directory.Delete(Root, recursive: true);
        Directory.CreateDirectory(Root);
        _folder.Folder.Prepare();
    }

    /// <summary>Changes the database of a stopped server.</summary>
    public void Execute(string sql)
    {
        using var connection = new SqliteConnection($"Data Source={DatabaseFile};Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = sql;
        command.ExecuteNonQuery();
    }

    /// <summary>Returns the 1-based number of the root page of a table or index.</summary>
    public int RootPage(string name)
    {
        using var connection = new SqliteConnection($"Data Source={DatabaseFile};Mode=ReadOnly;Pooling=False");
        connection.Open();
        using var command = connection.CreateCommand();
        command.CommandText = $"SELECT rootpage FROM sqlite_schema WHERE name = '{name}'";
        return Convert.ToInt32(command.ExecuteScalar(), System.Globalization.CultureInfo.InvariantCulture);
    }

    /// <summary>Reads every film and compares it with the posted bytes.</summary>
    public async Task AssertPlayAsync()
    {
        for (var i = 0; i < _films.Count; i++)
            await AssertPlaysAsync(i);
    }

    /// <summary>Reads one film and compares it with the posted bytes.</summary>
    public async Task AssertPlaysAsync(int film)
    {
        using var answer = await Host.Client.GetAsync(new Uri($"content/movies/Film {film + 1}/film.mkv", UriKind.Relative), Token);
        Assert.Equal(HttpStatusCode.OK, answer.StatusCode);
        var expected = new byte[FilmSize];
        _films[film].Fill(0, 0, expected);
        Assert.Equal(expected, await answer.Content.ReadAsByteArrayAsync(Token));
    }

    /// <summary>Whether the server reports safe mode.</summary>
    public async Task<bool> IsSafeModeAsync() => (await Host.Client.GetStringAsync("healthz", Token)).Contains("\"safe\"", StringComparison.Ordinal);

    /// <summary>Waits until the condition holds.</summary>
    public async Task UntilAsync(Func<Task<bool>> condition)
    {
        using var limit = CancellationTokenSource.CreateLinkedTokenSource(Token);
        limit.CancelAfter(Limit);
        while (!await condition())
        {
            Assert.False(limit.IsCancellationRequested, $"It did not become so. Log:\n{string.Join('\n', Log)}");
            await Task.Delay(TimeSpan.FromMilliseconds(20), TimeProvider.System, Token);
        }
    }

    public async ValueTask DisposeAsync()
    {
        if (_host is not null)
            await _host.DisposeAsync();
        await _mock.DisposeAsync();
        _folder.Dispose();
    }

    [GeneratedRegex("SLUICE_ACCEPT_DATABASE=([0-9a-f]+)")]
    private static partial Regex Accept();

    private static HashSet<string> Names(string folder) => Directory.Exists(folder)
        ? [.. Directory.GetFiles(folder, "*.nzb.br", SearchOption.AllDirectories).Select(path => Path.GetFileName(path)[..64])]
        : [];

    private sealed class Sink(ConcurrentQueue<string> lines) : ILoggerProvider, ILogger
    {
        public ILogger CreateLogger(string categoryName) => this;

        public IDisposable? BeginScope<TState>(TState state)
            where TState : notnull => null;

        public bool IsEnabled(LogLevel logLevel) => logLevel >= LogLevel.Information;

        public void Log<TState>(LogLevel logLevel, EventId eventId, TState state, Exception? exception, Func<TState, Exception?, string> formatter) =>
            lines.Enqueue($"{logLevel}: {formatter(state, exception)}");

        public void Dispose()
        {
        }
    }
}
