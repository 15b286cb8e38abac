using Microsoft.Extensions.Options;
using Sluice.Server.Settings;

namespace Sluice.Server.Library;

/// <summary>Which files of the library the tree shows: PAR2 files only while <c>webdav.preview-par2-files</c> says so (DAV-12).</summary>
internal sealed class ShownFiles(IOptionsMonitor<WebDavOptions> options)
{
    private const string Par2Extension = ".par2";

    /// <summary>Whether PAR2 files are shown, and with new releases published.</summary>
    public bool HavePar2 => options.CurrentValue.PreviewPar2Files;

    /// <summary>Whether a file is PAR2 by its name.</summary>
    public static bool IsPar2(string? name) => name?.EndsWith(Par2Extension, StringComparison.OrdinalIgnoreCase) ?? false;

    /// <summary>Whether an entry is shown.</summary>
    public bool Contain(LibraryEntry? entry) => entry is not FileEntry file || !IsPar2(file.Name) || HavePar2;
}
