using System.Globalization;
using Sluice.Server.Queue;

namespace Sluice.Server.SabApi;

/// <summary><c>mode=switch</c>: moves an item to the position of another item, or to a numbered position.</summary>
internal sealed class SwitchMode(QueueCommands commands) : ISabMode
{
    public string Name => "switch";

    public async Task AnswerAsync(SabCall call)
    {
        var (id, target) = (call.Parameters.Text("value"), call.Parameters.Text("value2"));
        if (id.Length == 0 || target.Length == 0)
        {
            await SabAnswer.ErrorAsync(call, SabTexts.TwoParameters);
            return;
        }

        var place = await (int.TryParse(target, NumberStyles.None, CultureInfo.InvariantCulture, out var index)
            ? commands.MoveAsync(id, index, call.Cancelled)
            : commands.MoveAsync(id, target, call.Cancelled));
        await SabAnswer.WriteAsync(
            call,
            to =>
            {
                to.BeginObject("result");
                to.Field("position", place?.Index ?? -1);
                to.Field("priority", (int)(place?.Priority ?? QueuePriority.Normal));
                to.EndObject();
            });
    }
}
