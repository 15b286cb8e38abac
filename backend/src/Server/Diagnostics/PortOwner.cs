using System.Globalization;

namespace Sluice.Server.Diagnostics;

/// <summary>Finds the process that listens on a port, if this user is allowed to see it.</summary>
internal static class PortOwner
{
    private const string Listening = "0A";

    /// <summary>Returns text such as <c> by nginx (pid 123)</c>; empty if unknown.</summary>
    public static string Describe(int port)
    {
        if (!OperatingSystem.IsLinux())
            return "";

        try
        {
            var sockets = SocketsOf("/proc/net/tcp", port).Concat(SocketsOf("/proc/net/tcp6", port)).ToHashSet();
            return sockets.Count == 0 ? "" : Directory.EnumerateDirectories("/proc").Select(folder => Describe(folder, sockets)).FirstOrDefault(text => text.Length > 0) ?? "";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    /// <summary>Returns the <c>/proc/&lt;pid&gt;/fd</c> link targets of sockets that listen on the port.</summary>
    private static IEnumerable<string> SocketsOf(string table, int port)
    {
        if (!File.Exists(table))
            yield break;

        var suffix = ":" + port.ToString("X4", CultureInfo.InvariantCulture);
        foreach (var line in File.ReadLines(table))
        {
            // sl local_address rem_address st tx_queue:rx_queue tr:tm->when retrnsmt uid timeout inode
            var fields = line.Split(' ', StringSplitOptions.RemoveEmptyEntries);
            if (fields.Length > 9 && fields[3] == Listening && fields[1].EndsWith(suffix, StringComparison.Ordinal))
                yield return $"socket:[{fields[9]}]";
        }
    }

    private static string Describe(string process, HashSet<string> sockets)
    {
        if (!int.TryParse(Path.GetFileName(process), NumberStyles.None, CultureInfo.InvariantCulture, out var id))
            return "";

        try
        {
            return Directory.EnumerateFiles(Path.Combine(process, "fd")).Any(link => sockets.Contains(new FileInfo(link).LinkTarget ?? ""))
                ? $" by {File.ReadAllText(Path.Combine(process, "comm")).Trim()} (pid {id})"
                : "";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            // The process belongs to another user or has ended.
            return "";
        }
    }
}
