namespace Sluice.Tools.MockNntpServer.Cli;

/// <summary>The PEM file with the authority that clients must trust. A temporary file is deleted on exit.</summary>
internal sealed class AuthorityFile : IDisposable
{
    private readonly bool _isTemporary;

    private AuthorityFile(string path, bool isTemporary)
    {
        Path = path;
        _isTemporary = isTemporary;
    }

    public string Path { get; }

    /// <param name="path">Path of the file; null for a temporary file.</param>
    public static AuthorityFile Write(string pem, string? path)
    {
        var file = new AuthorityFile(path ?? System.IO.Path.Combine(System.IO.Path.GetTempPath(), $"mock-nntp-ca-{Guid.NewGuid():N}.pem"), path is null);
        File.WriteAllText(file.Path, pem);
        return file;
    }

    public void Dispose()
    {
        if (_isTemporary)
            File.Delete(Path);
    }
}
