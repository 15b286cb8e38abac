namespace Sluice.Tools.MockNntpServer.Cli;

/// <summary>The file in which a client finds the authority to trust; a temporary one is deleted with the process.</summary>
internal sealed class AuthorityFile : IDisposable
{
    private readonly bool _isTemporary;

    private AuthorityFile(string path, bool isTemporary)
    {
        Path = path;
        _isTemporary = isTemporary;
    }

    /// <summary>Where it is.</summary>
    public string Path { get; }

    /// <summary>Writes it.</summary>
    /// <param name="pem">The authority.</param>
    /// <param name="path">Where to; null chooses a place among the temporary files.</param>
    public static AuthorityFile Write(string pem, string? path)
    {
        var file = new AuthorityFile(path ?? System.IO.Path.Combine(System.IO.Path.GetTempPath(), $"mock-nntp-ca-{Guid.NewGuid():N}.pem"), path is null);
        File.WriteAllText(file.Path, pem);
        return file;
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_isTemporary)
            File.Delete(Path);
    }
}
