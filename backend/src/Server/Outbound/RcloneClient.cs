using System.Globalization;
using System.Net.Http.Headers;
using System.Text;
using System.Text.Json;
using System.Text.Json.Serialization;
using Sluice.Server.Settings;

namespace Sluice.Server.Outbound;

/// <summary>Calls the remote control of the rclone that mounts the WebDAV tree, at the address set by the administrator (S10).</summary>
/// <remarks>Thread-safe. Follows no redirects and uses no proxy, because the credentials must reach only that host.</remarks>
internal sealed class RcloneClient(TimeProvider time) : IDisposable
{
    /// <summary>Timeout of a call, up to the status line.</summary>
    public static readonly TimeSpan Deadline = TimeSpan.FromSeconds(10);

    private readonly HttpClient _http = new(new SocketsHttpHandler { AllowAutoRedirect = false, UseProxy = false, UseCookies = false })
    {
        Timeout = Timeout.InfiniteTimeSpan,
    };

    /// <summary>Makes rclone forget folders and their parents (<c>vfs/forget</c>). Returns why the call failed, without secrets; null on success.</summary>
    public async Task<string?> ForgetAsync(RcloneOptions options, ChangedFolders.Batch changed, CancellationToken cancellationToken)
    {
        if (options.RcUrl is not { } address)
            return "rclone.host is empty";

        using var deadline = new CancellationTokenSource(Deadline, time);
        using var cancel = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken, deadline.Token);
        using var request = new HttpRequestMessage(HttpMethod.Post, new Uri(address, "vfs/forget"));
        request.Content = new ByteArrayContent(Describe(changed));
        request.Content.Headers.ContentType = new MediaTypeHeaderValue("application/json");
        if (options.RcUser.Length + options.RcPassword.Length > 0)
        {
            var credentials = Encoding.UTF8.GetBytes($"{options.RcUser}:{options.RcPassword}");
            request.Headers.Authorization = new AuthenticationHeaderValue("Basic", Convert.ToBase64String(credentials));
        }

        try
        {
            // Ignore the body, because it only repeats the folders, or contains an error with their names.
            using var answer = await _http.SendAsync(request, HttpCompletionOption.ResponseHeadersRead, cancel.Token);
            return answer.IsSuccessStatusCode ? null : string.Create(CultureInfo.InvariantCulture, $"it answered {(int)answer.StatusCode}");
        }
        catch (HttpRequestException e)
        {
            return e.Message;
        }
        catch (OperationCanceledException) when (deadline.IsCancellationRequested && !cancellationToken.IsCancellationRequested)
        {
            return string.Create(CultureInfo.InvariantCulture, $"no answer within {Deadline.TotalSeconds} s");
        }
    }

    public void Dispose() => _http.Dispose();

    /// <summary>Returns a JSON object with members <c>dir</c>, <c>dir2</c> and so on. An empty object means all folders.</summary>
    private static byte[] Describe(ChangedFolders.Batch changed) => JsonSerializer.SerializeToUtf8Bytes(
        changed.Folders.Select((folder, i) => (Name: i == 0 ? "dir" : string.Create(CultureInfo.InvariantCulture, $"dir{i + 1}"), Folder: folder))
            .ToDictionary(member => member.Name, member => member.Folder),
        RcloneJson.Default.DictionaryStringString);
}

[JsonSerializable(typeof(Dictionary<string, string>))]
internal sealed partial class RcloneJson : JsonSerializerContext;
