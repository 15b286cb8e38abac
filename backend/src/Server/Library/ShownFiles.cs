using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Library;

/// <summary>Decides which files the tree shows: PAR2 files only if <c>webdav.preview-par2-files</c> is on (DAV-12).</summary>
internal sealed class ShownFiles(IOptionsMonitor<WebDavOptions> options)
{
    private const string Par2Extension = ".par2";

    /// <summary>Whether PAR2 files are shown and published with new releases.</summary>
    public bool HavePar2 => options.CurrentValue.PreviewPar2Files;

    public static bool IsPar2(string? name) => name?.EndsWith(Par2Extension, StringComparison.OrdinalIgnoreCase) ?? false;

    public bool Shows(LibraryEntry? entry) => entry is not FileEntry file || !IsPar2(file.Name) || HavePar2;
}
