using System.Text;

namespace Sluice.Server.WebDav.Tree;

/// <summary>
/// A <c>.rclonelink</c>: the text that rclone shows as a symbolic link (DAV-10). Built from an id and a setting, never from
/// content (S22).
/// </summary>
internal static class LinkFile
{
    /// <summary>What is behind the name of every link.</summary>
    public const string Extension = ".rclonelink";

    /// <summary>The link to a file.</summary>
    /// <param name="name">Its name.</param>
    /// <param name="target">Where it leads.</param>
    /// <param name="published">When its release became visible.</param>
    /// <param name="isHidden">Whether it was deleted just now.</param>
    public static SmallFile Of(string name, string target, DateTimeOffset published, bool isHidden) =>
        new(name, Encoding.UTF8.GetBytes(target), published) { IsHidden = isHidden, ContentType = ContentTypes.ForName(name) };
}
